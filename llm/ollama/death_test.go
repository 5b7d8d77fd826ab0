package ollama_test

import (
	"context"
	"iter"
	"net"
	"strings"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// interrupted reads the story, calls strike after a few pieces, and returns how it ended.
func interrupted(t *testing.T, e *ollama.Engine, strike func()) result {
	t.Helper()
	return collect(t, during{e, strike}, t.Context(), say("tell me a story"))
}

// during is a service to which something happens at its fifth piece.
type during struct {
	*ollama.Engine
	strike func()
}

// Stream implements [llm.Service].
func (d during) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := 0
		for delta, err := range d.Engine.Stream(ctx, req) {
			if n++; n == 5 {
				d.strike()
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// broken fails t unless the reply broke off, with an error and without an end.
func broken(t *testing.T, r result) {
	t.Helper()
	if fault(r.err) != llm.Broken || r.done != nil || r.text == "" || !strings.HasPrefix(story, r.text) || r.text == story {
		t.Errorf("said %d bytes, done %+v, error %v", len(r.text), r.done, r.err)
	}
	if r.err != nil && strings.Contains(r.err.Error(), "sentence number") {
		t.Errorf("the error repeats the reply: %v", r.err)
	}
}

func TestRealDeath(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	broken(t, interrupted(t, e, s.Kill))

	r := collect(t, e, t.Context(), say("what is your name?"))
	if fault(r.err) != llm.Unreachable || cure(r.err) != "ollama serve" {
		t.Errorf("without a server: %v, cure %q", r.err, cure(r.err))
	}
	if _, err := e.Probe(t.Context()); fault(err) != llm.Unreachable {
		t.Errorf("probing no server: %v", err)
	}
	if err := e.Unload(t.Context(), ""); fault(err) != llm.Unreachable {
		t.Errorf("unloading without a server: %v", err)
	}

	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	told(t, collect(t, e, t.Context(), say("what is your name?")), short)

	broken(t, interrupted(t, e, func() {
		if n := s.KillRunner(); n != 1 {
			t.Errorf("killed %d runners", n)
		}
	}))
	testkit.Await(t, 20*time.Second, "the server to notice that its runner is gone", func() bool {
		r := collect(t, e, t.Context(), say("what is your name?"))
		return r.err == nil && r.text == short
	})
}

// Nobody listens on a port that was free a moment ago.
func TestAbsent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	for _, tt := range []struct{ host, cure string }{
		{host, "ollama serve"},
		{"nowhere.invalid", "OLLAMA_HOST=0.0.0.0 ollama serve` on nowhere.invalid"},
	} {
		e := open(t, ollama.Config{Host: tt.host, Model: "m"})
		r := collect(t, e, t.Context(), say("hello"))
		if fault(r.err) != llm.Unreachable || !strings.Contains(cure(r.err), tt.cure) {
			t.Errorf("%s: %v, cure %q", tt.host, r.err, cure(r.err))
		}
	}
}
