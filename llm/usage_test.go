package llm_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// counts is an engine that says two words and reports made-up numbers of tokens.
type counts struct {
	llm.Engine
	prompt, reply int
}

func (c counts) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		_ = yield(llm.Delta{Text: "one "}, nil) && yield(llm.Delta{Text: "two"}, nil) &&
			yield(llm.Delta{Done: &llm.Done{PromptTokens: c.prompt, ReplyTokens: c.reply}}, nil)
	}
}

// TestSpent: whatever becomes of a question, its cost is reported, as the server counted it or else
// estimated. A question that was never begun, or was refused, costs no tokens.
func TestSpent(t *testing.T) {
	script := func(troubles ...llmtest.Trouble) llm.Engine {
		return &llmtest.Script{Label: "a", Reply: "one two three four", Every: time.Second, Troubles: troubles}
	}
	refused := &llm.Error{Fault: llm.Unreachable, Engine: "a"}
	const asked = 13 + 1 // estimated from 52 bytes
	for _, tt := range []struct {
		name   string
		engine llm.Engine
		after  time.Duration // when the reader gives up; 0 means never
		takes  time.Duration // how long the reader takes for each piece
		want   llm.Usage
	}{
		{"as the server counted", script(), 0, 0, llm.Usage{PromptTokens: 11, ReplyTokens: 4, Took: 4 * time.Second}},
		{"a slow reader", script(), 0, time.Minute, llm.Usage{PromptTokens: 11, ReplyTokens: 4, Took: 4 * time.Second}},
		{"cut in the middle", script(), 2500 * time.Millisecond, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 2, Estimated: true, Took: 2500 * time.Millisecond}},
		{"cut before the first word", script(), 500 * time.Millisecond, 0, llm.Usage{PromptTokens: asked, Estimated: true, Took: 500 * time.Millisecond}},
		{"broken off", script(llmtest.Trouble{After: 1, Err: refused}), 0, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 1, Estimated: true, Took: time.Second}},
		{"stands still", script(llmtest.Trouble{After: 1, Hang: true}), 0, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 1, Estimated: true, Took: 6 * time.Second}},
		{"refused", script(llmtest.Trouble{Err: refused}), 0, 0, llm.Usage{}},
		{"nothing is counted", counts{script(), 0, 0}, 0, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 2, Estimated: true}},
		{"the reply alone is counted", counts{script(), 0, 7}, 0, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 7, Estimated: true}},
		{"what cannot be is counted", counts{script(), -5, 1 << 60}, 0, 0, llm.Usage{PromptTokens: asked, ReplyTokens: 2, Estimated: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ladder(tt.engine)
				l.Engines[0].Called = "mine"
				var got []llm.Usage
				l.Spent = func(s llm.Usage) { got = append(got, s) }
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.after > 0 {
					time.AfterFunc(tt.after, cancel)
				}
				origin := llm.Origin{Turn: "t", Unasked: true}
				req := &llm.Request{Priority: llm.ReplyToAgent, Origin: origin, Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("word word ", 5) + "ab"}}}
				for range l.Stream(ctx, req) {
					time.Sleep(tt.takes)
				}
				want := tt.want
				want.Engine, want.Priority, want.Origin = "mine", llm.ReplyToAgent, origin
				if !slices.EqualFunc(got, []llm.Usage{want}, func(a, b llm.Usage) bool { return reflect.DeepEqual(a, b) }) {
					t.Errorf("spent %+v\nwant %+v", got, want)
				}
			})
		})
	}
}

// TestSpentWaiting: a request that gives up while it waits for a slot costs nothing, and each time
// that an engine is asked again counts.
func TestSpentWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := &llm.Error{Fault: llm.Broken, Engine: "a", Err: errors.New("the stream broke")}
		l := ladder(&llmtest.Script{Label: "a", Reply: "one two", Every: time.Second, Troubles: []llmtest.Trouble{{Err: broken}}})
		n := 0
		l.Spent = func(llm.Usage) { n++ }
		req := &llm.Request{Priority: llm.ReplyToPerson}
		first := true
		for range l.Stream(t.Context(), req) {
			if !first {
				continue
			}
			first = false
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			for range l.Stream(ctx, req) {
			}
			cancel()
		}
		if n != 2 {
			t.Errorf("%d questions were told of, want the one that broke and the one that was answered", n)
		}
	})
}
