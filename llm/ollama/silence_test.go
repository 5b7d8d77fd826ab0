package ollama_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// TestLoads: a model that the server does not list as loaded has to be loaded. If the server keeps
// no list, or the model has just answered, it counts as loaded.
func TestLoads(t *testing.T) {
	for _, tt := range []struct {
		name, model, lists string
		want               bool
	}{
		{"nothing is loaded", "m", `{"models":[]}`, true},
		{"another is loaded", "m", `{"models":[{"name":"n:latest"}]}`, true},
		{"it is loaded", "m", `{"models":[{"name":"n:latest"},{"name":"m:latest"}]}`, false},
		{"it is loaded, as it was asked for", "hf.co/some/model:Q4", `{"models":[{"name":"hf.co/some/model:Q4"}]}`, false},
		{"in other letters", "M:Latest", `{"models":[{"name":"m:latest"}]}`, false},
		{"of another size", "m:70b", `{"models":[{"name":"m:latest"}]}`, true},
		{"a server without such a list", "m", `{}`, false},
		{"no JSON", "m", `<html>`, false},
		{"no model is named", "", `{"models":[]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
				switch in.URL.Path {
				case "/api/ps":
					asked++
					io.WriteString(w, tt.lists)
				case "/api/show":
					io.WriteString(w, `{"capabilities":["completion"]}`)
				default:
					io.WriteString(w, `{"message":{"content":"Yes."},"done":true,"done_reason":"stop"}`+"\n")
				}
			}))
			defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
			e := open(t, ollama.Config{Host: server.URL, Model: tt.model})
			if got := e.Loads(t.Context(), ""); got != tt.want {
				t.Errorf("it loads: %v, want %v", got, tt.want)
			}
			if tt.model == "" {
				return
			}
			before := asked
			told(t, collect(t, e, t.Context(), say("hello")), "Yes.")
			if e.Loads(t.Context(), "") || asked != before {
				t.Error("it is asked again just after it has answered")
			}
		})
	}
}

// TestSilentServer: a server that takes connections and never answers is given up when the first
// word is overdue.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	e := open(t, ollama.Config{Host: l.Addr().String(), Model: "m"})
	ladder := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: e}}, FirstToken: 2 * time.Second}
	ended := make(chan error, 1)
	go func() {
		var end error
		for _, err := range ladder.Stream(t.Context(), say("hello")) {
			end = err
		}
		ended <- end
	}()
	select {
	case err := <-ended:
		if is, ok := errors.AsType[*llm.Error](err); !ok || is.Fault != llm.Stalled || is.Cure == "" {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("waited a minute for an end of a request to a server that says nothing")
	}
}

// TestRealLoads: the real server lists a model as loaded from its first answer on, and not before.
func TestRealLoads(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	create(t, s, "other", speaker)
	fresh := func() *ollama.Engine { return open(t, ollama.Config{Host: s.Host(), Model: "other"}) }
	if !fresh().Loads(t.Context(), "") {
		t.Error("what nobody has asked is loaded")
	}
	told(t, collect(t, fresh(), t.Context(), say("name")), short)
	if fresh().Loads(t.Context(), "") {
		t.Error("what has answered is not loaded")
	}
	if err := e.Unload(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, time.Minute, "the model to be unloaded", func() bool { return fresh().Loads(t.Context(), "") })
}
