package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

const (
	usual = "I have nothing to say to that — nothing at all, 你好."
	short = "I am a model that somebody made."
	plan  = `{"say": "hello", "urgent": true, "n": 42}`
)

// story is long enough to be cut off in the middle: some 300 tokens, which take a second with the
// layers used here.
var story = func() string {
	var b strings.Builder
	for i := range 24 {
		fmt.Fprintf(&b, "This is sentence number %d of the story, it goes on. ", i+1)
	}
	return b.String()
}()

// speaker is a model that says the texts above.
var speaker = ollamatest.Model{
	Says: usual,
	Routes: []ollamatest.Route{
		{Word: "name", Says: short},
		{Word: "story", Says: story},
		{Word: "plan", Says: plan},
		{Word: "ponder", Says: "<think>Ponds < lakes, perhaps.</think>\n\nIt is 42."},
		{Word: "brood", Says: "<think>This thought never ends"},
	},
}

// serve starts a server that has the speaker, and returns it with an engine.
func serve(t *testing.T, o ollamatest.Options) (*ollamatest.Server, *ollama.Engine) {
	t.Helper()
	s := ollamatest.Start(t, o)
	create(t, s, "speaker", speaker)
	return s, open(t, ollama.Config{Host: s.Host(), Model: "speaker"})
}

// create makes a model on the server.
func create(t *testing.T, s *ollamatest.Server, name string, m ollamatest.Model) {
	t.Helper()
	if err := s.Make(t.Context(), name, m); err != nil {
		t.Fatal(err)
	}
}

// told fails t unless a reply came completely.
func told(t *testing.T, r result, want string) {
	t.Helper()
	if r.err != nil || r.done == nil || r.text != want {
		t.Errorf("got %d bytes %.60q, done %+v, error %v; want %d bytes %.60q", len(r.text), r.text, r.done, r.err, len(want), want)
	}
}

func TestReal(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	ctx := t.Context()

	t.Run("Stream", func(t *testing.T) {
		r := collect(t, e, ctx, say("tell me a story"))
		told(t, r, story)
		if r.deltas < 100 {
			t.Errorf("came in %d pieces: that is no stream", r.deltas)
		}
		if r.done != nil && (r.done.Truncated || r.done.ReplyTokens < 100 || r.done.PromptTokens == 0) {
			t.Errorf("ended as %+v", *r.done)
		}
	})

	t.Run("Whole", func(t *testing.T) {
		req := say("tell me a story")
		req.Whole = true
		r := collect(t, e, ctx, req)
		told(t, r, story)
		if r.deltas > 3 {
			t.Errorf("came in %d pieces", r.deltas)
		}
	})

	t.Run("Cut", func(t *testing.T) {
		for _, leave := range []string{"by leaving the loop", "by ending the context"} {
			for n := 5; n < 25; n += 5 {
				cut(t, e, leave, n)
				told(t, collect(t, patiently(t, e), ctx, say("what is your name?")), short)
			}
		}
	})

	t.Run("Truncated", func(t *testing.T) {
		req := say("tell me a story")
		req.MaxTokens = 10
		r := collect(t, e, ctx, req)
		if r.done == nil || !r.done.Truncated || r.done.ReplyTokens != 10 || r.text == "" || !strings.HasPrefix(story, r.text) {
			t.Errorf("got %q, %+v, %v", r.text, r.done, r.err)
		}
	})

	t.Run("Thoughts", func(t *testing.T) {
		create(t, s, "thinker", withThoughts(speaker))
		for _, model := range []string{"speaker", "thinker"} { // in the one the engine splits off the thoughts, in the other the server
			for _, think := range []bool{true, false} {
				for _, whole := range []bool{true, false} {
					req := say("ponder this")
					req.Model, req.Think, req.Whole = model, think, whole
					r := collect(t, e, ctx, req)
					told(t, r, "It is 42.")
					if r.thinking != "Ponds < lakes, perhaps." {
						t.Errorf("%s, think %v, whole %v: thought %q", model, think, whole, r.thinking)
					}
				}
				req := say("brood")
				req.Model, req.Think = model, think
				if r := collect(t, e, ctx, req); r.err != nil || r.text != "" || r.thinking != "This thought never ends" {
					t.Errorf("%s, think %v: said %q, thought %q, %v", model, think, r.text, r.thinking, r.err)
				}
			}
		}
	})

	t.Run("Structured", func(t *testing.T) {
		req := say("make a plan")
		req.Schema = json.RawMessage(`{"type":"object","properties":{"say":{"type":"string"},"urgent":{"type":"boolean"},"n":{"type":"integer"}},"required":["say","urgent","n"]}`)
		told(t, collect(t, e, ctx, req), plan)

		// The schema also binds a model that knows nothing of it: it wants to say something else,
		// and cannot.
		req = say("good morning")
		req.Schema = json.RawMessage(`{"enum":["yes","no"]}`)
		r := collect(t, e, ctx, req)
		if answer := strings.TrimSpace(r.text); r.err != nil || answer != `"yes"` && answer != `"no"` {
			t.Errorf("said %q, %v", r.text, r.err)
		}

		req.Schema = json.RawMessage(`{"type":"nonsense"}`)
		if r := collect(t, e, ctx, req); fault(r.err) != llm.Unsupported {
			t.Errorf("nonsense as a schema: %v", r.err)
		}
	})

	t.Run("TooLong", func(t *testing.T) {
		for _, whole := range []bool{true, false} {
			req := say(strings.Repeat("blah ", 3000))
			req.Whole = whole
			r := collect(t, e, ctx, req)
			if fault(r.err) != llm.TooLong || !strings.Contains(cure(r.err), "OLLAMA_CONTEXT_LENGTH") {
				t.Errorf("got %v, cure %q", r.err, cure(r.err))
			}
		}
	})

	// A reply that fills the context ends as truncated, instead of going on without its
	// instructions.
	t.Run("Endless", func(t *testing.T) {
		create(t, s, "endless", ollamatest.Model{Says: "Row, row, row your boat. ", Layers: 1, Endless: true})
		req := say(strings.Repeat("blah ", 1400))
		req.Model, req.MaxTokens = "endless", 100_000
		r := collect(t, e, ctx, req)
		if r.done == nil || !r.done.Truncated || r.done.PromptTokens+r.done.ReplyTokens > ollamatest.Context+1 { // the last token need not fit
			t.Errorf("ended as %+v, %v", r.done, r.err)
		}
	})

	t.Run("NoModel", func(t *testing.T) {
		for _, name := range []string{"no-such-model", "library/no-such:9b"} {
			req := say("hello")
			req.Model = name
			r := collect(t, e, ctx, req)
			if fault(r.err) != llm.NoModel || !strings.HasPrefix(cure(r.err), "earshot models list ") || !strings.HasSuffix(cure(r.err), ", or: ollama pull "+name) {
				t.Errorf("got %v, cure %q", r.err, cure(r.err))
			}
		}
	})

	t.Run("Probe", func(t *testing.T) {
		create(t, s, "newest", withThoughts(ollamatest.Model{Says: "x"}))
		status, err := e.Probe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if status.Version != "0.17.4" || len(status.Models) < 2 {
			t.Fatalf("got %+v", status)
		}
		if m := status.Models[0]; m.Name != "newest:latest" || !m.Thinking || m.Vision || m.Tools || m.Bytes == 0 {
			t.Errorf("the newest is %+v", m)
		}
	})

	// What the server said of a model is forgotten when the model changes.
	t.Run("Replaced", func(t *testing.T) {
		create(t, s, "changing", withThoughts(speaker))
		req := say("ponder")
		req.Model, req.Think = "changing", true
		told(t, collect(t, e, ctx, req), "It is 42.")
		create(t, s, "changing", speaker) // now it cannot think, and refuses to be asked to
		told(t, collect(t, e, ctx, req), "It is 42.")
	})

	t.Run("Unload", func(t *testing.T) {
		told(t, collect(t, e, ctx, say("name")), short)
		if err := e.Unload(ctx, ""); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, 10*time.Second, "the model to leave memory", func() bool { return !loaded(t, s, "speaker:latest") })
		told(t, collect(t, e, ctx, say("name")), short)
		if err := e.Unload(ctx, "no-such-model"); fault(err) != llm.NoModel {
			t.Errorf("unloading what is not there: %v", err)
		}
	})
}

// withThoughts returns m as a model that can think, as the server knows.
func withThoughts(m ollamatest.Model) ollamatest.Model {
	m.Thinks = true
	return m
}

// loaded reports whether the server has the model in memory.
func loaded(t *testing.T, s *ollamatest.Server, name string) bool {
	running, err := s.Client().ListRunning(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range running.Models {
		if m.Name == name {
			return true
		}
	}
	return false
}

// patiently returns e behind a ladder, as the daemon uses it. A cut may wedge the model of a real
// server, and without a ladder a question would then wait for ever.
func patiently(t *testing.T, e *ollama.Engine) llm.Service {
	return &llm.Ladder{
		Engines:    []*llm.Scheduler{{Engine: e}},
		FirstToken: patient,
		Report: func(s llm.Step) {
			if s.Kind != llm.Answered {
				t.Logf("after a cut: %s, %v", s.Kind, s.Err)
			}
		},
	}
}

// cut reads n pieces of the story, and leaves.
func cut(t *testing.T, e *ollama.Engine, leave string, n int) {
	t.Helper()
	because := errors.New("somebody spoke")
	ctx, stop := context.WithTimeoutCause(t.Context(), whole, errNoEnd)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var said strings.Builder
	var last error
	for d, err := range e.Stream(ctx, say("tell me a story")) {
		if last = err; err != nil {
			continue
		}
		said.WriteString(d.Text)
		if n--; n > 0 {
			continue
		}
		if leave == "by leaving the loop" {
			break
		}
		if n < 0 {
			t.Error("a piece came after the context had ended")
		}
		cancel(because)
	}
	if !strings.HasPrefix(story, said.String()) || said.Len() == 0 || said.Len() == len(story) {
		t.Errorf("cut %s: had %d bytes", leave, said.Len())
	}
	if leave == "by ending the context" && last != because {
		t.Errorf("ended with %v, want the cause of the context", last)
	}
}

// TestRealTwoAtOnce: with two slots a short reply overtakes a long one that began before it. With
// one slot it would have to wait for the end of that.
func TestRealTwoAtOnce(t *testing.T) {
	_, e := serve(t, ollamatest.Options{Slots: 2})
	ctx := t.Context()
	told(t, collect(t, e, ctx, say("what is your name?")), short) // makes the server load the model

	var order ended
	var talk sync.WaitGroup
	defer testkit.Finish(t, 5*testkit.Patience, "the short reply", talk.Wait)
	begun := false
	long, stop := context.WithTimeoutCause(ctx, whole, errNoEnd)
	defer stop()
	for d, err := range e.Stream(long, say("tell me a story")) {
		if err != nil {
			t.Error(err)
		}
		if !begun {
			begun = true
			talk.Go(func() {
				told(t, collect(t, e, ctx, say("what is your name?")), short)
				order.note("short")
			})
		}
		if d.Done != nil {
			order.note("long")
		}
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of the short reply", talk.Wait)
	if got := strings.Join(order.names, " "); got != "short long" {
		t.Errorf("ended in the order %q", got)
	}
}

// ended is the order in which things ended.
type ended struct {
	mu    sync.Mutex
	names []string
}

// note adds a name to the order.
func (e *ended) note(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.names = append(e.names, name)
}
