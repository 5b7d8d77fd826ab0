package ollama_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama/ollamatest"
)

// TestRealHosts: three real servers are one engine. One that dies in the middle of a reply ends that reply
// and no other; one that is dead costs nobody a reply; and one that is back serves again.
func TestRealHosts(t *testing.T) {
	var servers []*ollamatest.Server
	s := &llm.Scheduler{Called: "speaker"}
	for i := range 3 {
		server, e := serve(t, ollamatest.Options{})
		servers = append(servers, server)
		s.Hosts = append(s.Hosts, &llm.Host{Engine: e, Called: fmt.Sprint(i)})
	}
	var mu sync.Mutex
	var steps []llm.Step
	l := &llm.Ladder{Engines: []*llm.Scheduler{s}, FirstToken: patient, Report: func(step llm.Step) {
		mu.Lock()
		defer mu.Unlock()
		steps = append(steps, step)
	}}
	last := func() llm.Step {
		mu.Lock()
		defer mu.Unlock()
		return steps[len(steps)-1]
	}
	hostOf := func(step llm.Step) (i int) {
		fmt.Sscan(step.Called, &i)
		return i
	}

	t.Run("all serve at once", func(t *testing.T) {
		var g sync.WaitGroup
		var begun atomic.Int32
		for range 3 {
			g.Go(func() {
				first := sync.OnceFunc(func() {
					begun.Add(1)
					if !testkit.Poll(testkit.Patience, func() bool { return begun.Load() == 3 }) {
						t.Error("three replies were not generated at once")
					}
				})
				told(t, collect(t, listener{l, first}, t.Context(), person("tell me a story")), story)
			})
		}
		testkit.Finish(t, whole, "three replies", g.Wait)
		if got := s.Load(); got != (llm.Load{}) {
			t.Errorf("left over: %+v", got)
		}
		served := map[string]bool{}
		for _, step := range steps {
			served[step.Called] = step.Kind == llm.Answered
		}
		if len(served) != 3 {
			t.Errorf("three replies at once came from %v", served)
		}
	})

	t.Run("killed in the middle of a reply", func(t *testing.T) {
		n := 0
		broken(t, collect(t, listener{l, func() {
			if n++; n == 5 {
				servers[hostOf(last())].Kill()
			}
		}}, t.Context(), person("tell me a story")))
		if step := last(); step.Kind != llm.Dropped {
			t.Errorf("ended with %+v", step)
		}
		told(t, collect(t, l, t.Context(), person("what is your name?")), short)
	})

	t.Run("killed before the first token", func(t *testing.T) {
		told(t, collect(t, l, t.Context(), person("what is your name?")), short)
		next := hostOf(last()) // where the conversation is warm
		servers[next].Kill()
		told(t, collect(t, l, t.Context(), person("what is your name?")), short)
		mu.Lock()
		two := steps[len(steps)-2:]
		mu.Unlock()
		if two[0].Kind != llm.Rerouted || hostOf(two[0]) != next || two[1].Kind != llm.Answered || hostOf(two[1]) == next {
			t.Errorf("the steps were %+v", two)
		}
	})

	t.Run("back again", func(t *testing.T) {
		gone := hostOf(last())
		servers[gone].Kill() // the third
		r := collect(t, l, t.Context(), person("what is your name?"))
		if fault(r.err) != llm.Unreachable {
			t.Errorf("without a server: %v", r.err)
		}
		if err := servers[gone].Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		told(t, collect(t, l, t.Context(), person("what is your name?")), short)
		if hostOf(last()) != gone {
			t.Errorf("answered by host %s", last().Called)
		}
	})
}

// person returns a question of a person.
func person(text string) *llm.Request {
	req := say(text)
	req.Priority = llm.ReplyToPerson
	return req
}

// A listener is a service of which each piece is heard.
type listener struct {
	llm.Service
	hear func()
}

// Stream implements [llm.Service].
func (l listener) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range l.Service.Stream(ctx, req) {
			l.hear()
			if !yield(d, err) {
				return
			}
		}
	}
}
