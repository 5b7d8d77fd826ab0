package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// asks returns a request with that question.
func asks(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

// first reads a reply, and returns after how long its first word came, and all of its text.
func first(ctx context.Context, s llm.Service, req *llm.Request) (after time.Duration, text string, err error) {
	began := time.Now()
	var b strings.Builder
	for d, failed := range s.Stream(ctx, req) {
		if failed != nil {
			return after, b.String(), failed
		}
		if d.Text != "" && b.Len() == 0 {
			after = time.Since(began)
		}
		b.WriteString(d.Text)
	}
	return after, b.String(), nil
}

// TestHeadStart: a question that was foreseen is answered sooner. One that was not takes as long as
// ever, and the engine is not busy with anything else.
func TestHeadStart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		foresee []string
		drop    bool
		rest    time.Duration // from then until the question
		want    time.Duration // from the question to the first word, which takes 400 ms
		taken   int
		asked   int // how often the engine is asked
	}{
		{"nothing", nil, false, 0, 400 * time.Millisecond, 0, 1},
		{"the same", []string{"what time"}, false, 300 * time.Millisecond, 100 * time.Millisecond, 1, 1},
		{"the same twice", []string{"what time", "what time"}, false, 300 * time.Millisecond, 100 * time.Millisecond, 1, 1},
		{"all of it", []string{"what time"}, false, 3 * time.Second, 0, 1, 1},
		{"something else", []string{"what"}, false, 300 * time.Millisecond, 400 * time.Millisecond, 0, 2},
		{"something else, then the same", []string{"what", "what time"}, false, 300 * time.Millisecond, 100 * time.Millisecond, 1, 2},
		{"the same, given up", []string{"what time"}, true, 300 * time.Millisecond, 400 * time.Millisecond, 0, 2},
		{"the same, too long ago", []string{"what time"}, false, 10 * time.Second, 400 * time.Millisecond, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := &llmtest.Script{Reply: "it is five", Every: 400 * time.Millisecond}
				engine := &llm.Scheduler{Engine: script, Slots: 1}
				h := &llm.HeadStart{Service: engine}
				for _, text := range tt.foresee {
					h.Begin(t.Context(), asks(text))
					synctest.Wait()
				}
				if tt.drop {
					h.Drop()
				}
				time.Sleep(tt.rest)
				after, text, err := first(t.Context(), h, asks("what time"))
				if err != nil || text != "it is five" || after != tt.want {
					t.Errorf("%q came after %v with %v, want %v", text, after, err, tt.want)
				}
				h.Wait()
				begun, taken := h.Counts()
				if taken != tt.taken || len(script.Seen()) != tt.asked {
					t.Errorf("%d begun, %d taken, the engine was asked %d times", begun, taken, len(script.Seen()))
				}
				if l := engine.Load(); l.Running+l.Waiting != 0 {
					t.Errorf("the engine still has %+v to do", l)
				}
			})
		})
	}
}

// TestHeadStartIsLeft: a reply that had begun, and is left by its reader or dropped, leaves nothing
// behind.
func TestHeadStartIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &llm.Scheduler{Engine: &llmtest.Script{Reply: "one two three", Every: time.Second}}
		h := &llm.HeadStart{Service: engine}
		h.Begin(t.Context(), asks("count"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		if _, text, err := first(ctx, h, asks("count")); !errors.Is(err, context.Canceled) || text != "one" {
			t.Errorf("%q, then %v", text, err)
		}
		h.Begin(t.Context(), asks("count"))
		for range h.Stream(t.Context(), asks("count")) {
			break
		}
		h.Begin(t.Context(), asks("count"))
		h.Drop()
		h.Wait()
		if l := engine.Load(); l.Running+l.Waiting != 0 {
			t.Errorf("the engine still has %+v to do", l)
		}
	})
}

// TestHeadStartThatIsEnded: a reply that was taken over and is then cancelled ends with an error,
// and does not look complete.
func TestHeadStartThatIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &llm.HeadStart{Service: &llmtest.Script{Reply: "one two three", Every: time.Second}}
		ctx, cancel := context.WithCancel(t.Context())
		h.Begin(ctx, asks("count"))
		time.AfterFunc(1500*time.Millisecond, cancel)
		if _, text, err := first(t.Context(), h, asks("count")); !errors.Is(err, context.Canceled) || text != "one" {
			t.Errorf("%q, then %v", text, err)
		}
		h.Wait()
	})
}

// TestHeadStartOn: a service made by On takes over the reply that has begun, and asks its own
// service for everything else.
func TestHeadStartOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		was, is := &llmtest.Script{Rules: []llmtest.Rule{{Reply: "as before"}}}, &llmtest.Script{Rules: []llmtest.Rule{{Reply: "otherwise"}}}
		h := &llm.HeadStart{Service: is}
		kept := h.On(was)
		h.Begin(t.Context(), asks("begun"))
		synctest.Wait()
		for question, want := range map[string]string{"begun": "otherwise", "something else": "as before"} {
			if question == "something else" {
				h.Drop()
			}
			if _, text, err := first(t.Context(), kept, asks(question)); text != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", question, text, err, want)
			}
			if question == "something else" {
				h.Begin(t.Context(), asks("begun"))
				synctest.Wait()
			}
		}
		h.Drop()
		h.Wait()
	})
}
