package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

const (
	tries   = 60               // the real server was seen to wedge after 8 and 22 cuts
	patient = 10 * time.Second // a model that answers at all takes a tenth of that, even on a busy machine
)

// TestRealWedged cuts replies of a real server until its model is wedged, if it ever is. The ladder
// notices, unloads the model, and asks again.
func TestRealWedged(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	fast := speaker
	fast.Layers = 1 // two thousand tokens a second, which is what wedges it
	create(t, s, "fast", fast)
	quick := open(t, ollama.Config{Host: s.Host(), Model: "fast"})
	told(t, collect(t, quick, t.Context(), say("name")), short)

	var steps []llm.Step
	l := &llm.Ladder{
		Engines:    []*llm.Scheduler{{Engine: quick}},
		FirstToken: patient,
		Report:     func(s llm.Step) { steps = append(steps, s) },
	}
	for i := range tries {
		cut(t, quick, "by leaving the loop", 5+i%20)
		steps = nil
		told(t, collect(t, l, t.Context(), say("name")), short)
		if len(steps) > 1 {
			if steps[0].Kind != llm.Reloaded || steps[1].Kind != llm.Answered {
				t.Errorf("after %d cuts: %v", i+1, steps)
			}
			t.Logf("wedged after %d cuts, and cured", i+1)
			return
		}
	}
	t.Logf("not wedged by %d cuts; TestWedged shows the cure", tries)
	told(t, collect(t, e, t.Context(), say("name")), short)
}

// A wedged is a server whose model never answers a chat until it has been unloaded.
type wedged struct {
	mu       sync.Mutex
	unloaded bool
	asked    []string // the requests, in order
}

// ServeHTTP implements [http.Handler].
func (w *wedged) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	if in.URL.Path == "/api/show" {
		io.WriteString(out, `{"capabilities":["completion"]}`)
		return
	}
	if in.URL.Path == "/api/ps" {
		io.WriteString(out, `{"models":[{"name":"m:latest"}]}`)
		return
	}
	var chat api.ChatRequest
	json.NewDecoder(in.Body).Decode(&chat)
	if w.note(chat) {
		<-in.Context().Done()
		return
	}
	io.WriteString(out, `{"message":{"content":"Here I am."},"done":false}`+"\n"+`{"done":true,"done_reason":"stop"}`+"\n")
}

// note records a chat, and reports whether it gets no answer.
func (w *wedged) note(chat api.ChatRequest) (stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(chat.Messages) == 0 && chat.KeepAlive != nil && chat.KeepAlive.Duration == 0 {
		w.asked = append(w.asked, "unload")
		w.unloaded = true
		return false
	}
	w.asked = append(w.asked, "chat")
	return !w.unloaded
}

func TestWedged(t *testing.T) {
	t.Parallel()
	w := new(wedged)
	server := httptest.NewServer(w)
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	var steps []llm.Step
	l := &llm.Ladder{
		Engines:    []*llm.Scheduler{{Engine: open(t, ollama.Config{Host: server.URL, Model: "m"})}},
		FirstToken: 2 * time.Second, // longer than an answer takes on a busy machine
		Report:     func(s llm.Step) { steps = append(steps, s) },
	}
	told(t, collect(t, l, t.Context(), say("hello")), "Here I am.")
	if got := fmt.Sprint(w.asked); got != "[chat unload chat]" {
		t.Errorf("the server was asked for %s", got)
	}
	if len(steps) != 2 || steps[0].Kind != llm.Reloaded || steps[1].Kind != llm.Answered {
		t.Errorf("the ladder took the steps %v", steps)
	}
}

// TestUnloadEnds: whatever the server does, unloading ends with its context.
func TestUnloadEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		io.Copy(io.Discard, in.Body) // or else the server would not notice that the connection ends
		<-in.Context().Done()
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	because := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(because) })
	if err := open(t, ollama.Config{Host: server.URL}).Unload(ctx, "m"); err != because {
		t.Errorf("got %v", err)
	}
}
