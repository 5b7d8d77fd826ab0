package generation_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot/conversation"
	"earshot/executive/generation"
	"earshot/llm"
)

// A model answers its n-th request with the n-th of its answers: words that come one at a time, an
// error, or a pause before them.
type model struct {
	answers []answer
	prompts []int // how many messages each request had
}

type answer struct {
	words string
	err   error
	after time.Duration
}

func (m *model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	a := m.answers[len(m.prompts)]
	m.prompts = append(m.prompts, len(req.Messages))
	return func(yield func(llm.Delta, error) bool) {
		time.Sleep(a.after)
		for _, w := range strings.SplitAfter(a.words, " ") {
			if w != "" && !yield(llm.Delta{Text: w}, nil) {
				return
			}
		}
		if a.err != nil {
			yield(llm.Delta{}, a.err)
			return
		}
		yield(llm.Delta{Done: new(llm.Done)}, nil)
	}
}

// read reads all words, and returns them and the error.
func read(words iter.Seq2[string, error]) (string, error) {
	var said strings.Builder
	for text, err := range words {
		if err != nil {
			return said.String(), err
		}
		said.WriteString(text)
	}
	return said.String(), nil
}

// request returns a request of some messages to a model.
func request(m *model, messages int) *generation.Request {
	prompt := &llm.Request{Messages: make([]llm.Message, messages)}
	for i := range prompt.Messages {
		prompt.Messages[i] = llm.Message{Role: llm.User, Text: "What was said."}
	}
	return &generation.Request{
		Prompt: prompt, Model: m, Parting: "Over to you.",
		Filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: "Earshot"}},
		Now:    time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// TestWords: a silent model is asked once more, a prompt that is too long gets shorter, an error
// after some words is passed on, and the result says what happened.
func TestWords(t *testing.T) {
	long, down := &llm.Error{Engine: "e", Fault: llm.TooLong}, &llm.Error{Engine: "e", Fault: llm.Unreachable, Err: errors.New("no route to 10.0.0.7")}
	for _, tt := range []struct {
		name    string
		answers []answer
		want    string
		err     string // what may be shown of it to everybody
		asked   int
		is      func(*generation.Request) bool
	}{
		{"an answer", []answer{{words: "Hello there."}}, "Hello there.", "", 1, nil},
		{"nothing, and then an answer", []answer{{}, {words: "Hello."}}, "Hello.", "", 2, nil},
		{"nothing twice", []answer{{}, {}}, "", "the model returned nothing, twice", 2, nil},
		{"too long once", []answer{{err: long}, {words: "Hello."}}, "Hello.", "", 2, func(g *generation.Request) bool { return g.Halved }},
		{"unreachable", []answer{{err: down}}, "", "e: " + string(llm.Unreachable), 1, nil},
		{"broken off", []answer{{words: "Half of ", err: down}}, "Half of ", "e: " + string(llm.Unreachable), 1, nil},
		{"somebody else's name before it", []answer{{words: "[FROM: Ann] Hello."}}, "Hello.", "", 1, func(g *generation.Request) bool { return g.Filter.Envelopes.Foreign > 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &model{answers: tt.answers}
			g := request(m, 12)
			got, err := read(g.Words(t.Context()))
			why := ""
			if err != nil {
				why = generation.FaultKind(err)
			}
			if got != tt.want || why != tt.err || len(m.prompts) != tt.asked {
				t.Errorf("said %q, %q, asked %d times; want %q, %q, %d", got, why, len(m.prompts), tt.want, tt.err, tt.asked)
			}
			if tt.is != nil && !tt.is(g) {
				t.Error("the result does not say what happened")
			}
		})
	}
}

// TestTooLongForEver: a prompt is shortened until nothing can be left out, and then the error is
// passed on.
func TestTooLongForEver(t *testing.T) {
	m := &model{}
	for range 20 {
		m.answers = append(m.answers, answer{err: &llm.Error{Engine: "e", Fault: llm.TooLong}})
	}
	if _, err := read(request(m, 40).Words(t.Context())); err == nil {
		t.Error("a prompt that is too long was answered")
	}
	if last := m.prompts[len(m.prompts)-1]; len(m.prompts) < 3 || last >= m.prompts[0]/2 {
		t.Errorf("the requests had %d messages", m.prompts)
	}
}

// TestSlow: whoever waits is told once that nothing has come for long, and not if something has.
func TestSlow(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  int64
	}{{time.Second, 0}, {10 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var told atomic.Int64
			g := request(&model{answers: []answer{{words: "Hello.", after: tt.after}}}, 3)
			g.SlowAfter, g.Slow = 5*time.Second, func() { told.Add(1) }
			if got, err := read(g.Words(t.Context())); got != "Hello." || err != nil {
				t.Errorf("said %q, %v", got, err)
			}
			time.Sleep(time.Minute)
			if n := told.Load(); n != tt.want {
				t.Errorf("after %v told %d times, want %d", tt.after, n, tt.want)
			}
		})
	}
}

// TestResume: the rest of a reply that was cut off comes first, then what the model adds without
// repeating it, or the end of the rest if it adds nothing.
func TestResume(t *testing.T) {
	for _, tt := range []struct{ name, rest, last, adds, want string }{
		{"it adds something", "The second is tea.", "", "And the third is milk.", "The second is tea. And the third is milk."},
		{"it repeats the rest", "The second is green tea.", "", "The second is green tea. The third is milk.", "The second is green tea. The third is milk."},
		{"it adds nothing", "The second is ", "tea.", "", "The second is tea."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			words := func(yield func(string, error) bool) {
				for _, w := range strings.SplitAfter(tt.adds, " ") {
					if !yield(w, nil) {
						return
					}
				}
			}
			if got, err := read(generation.Resume(t.Context(), tt.rest, tt.last, words)); got != tt.want || err != nil {
				t.Errorf("said %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestFaultNotice: without a model it says how to get one; how a connection failed is not shown.
func TestFaultNotice(t *testing.T) {
	if n := generation.FaultNotice(generation.ErrNoModel); n.Cure == "" {
		t.Error("there is no cure for a missing model")
	}
	if n := generation.FaultNotice(&llm.Error{Engine: "e", Fault: llm.Unreachable, Err: errors.New("no route to 10.0.0.7")}); strings.Contains(n.Text, "10.0.0.7") {
		t.Errorf("people are shown %q", n.Text)
	}
}
