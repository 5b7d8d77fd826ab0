package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"

	"earshot"
	"earshot/config"
	"earshot/internal/testkit"
)

// A shelf is a fake Ollama server with models, each of which gives a fixed reply.
type shelf struct {
	*httptest.Server

	mu     sync.Mutex
	pulls  func(w http.ResponseWriter, model string) (there bool) // if nil, every download succeeds at once
	models []string                                               // newest first
	asked  []api.ChatRequest
}

// newShelf serves models until the test ends.
func newShelf(t *testing.T, models ...string) *shelf {
	s := &shelf{models: models}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"0.17.4"}`) })
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"capabilities":["completion"]}`) })
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /api/pull", s.pull)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", s.Close) })
	return s
}

func (s *shelf) tags(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []map[string]any
	for i, m := range s.models {
		list = append(list, map[string]any{"name": m, "size": 1e9, "modified_at": fmt.Sprintf("2026-01-%02dT00:00:00Z", 28-i)})
	}
	json.NewEncoder(w).Encode(map[string]any{"models": list})
}

// downloads sets how the server downloads models.
func (s *shelf) downloads(pulls func(w http.ResponseWriter, model string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls = pulls
}

// pull handles a request to download a model.
func (s *shelf) pull(w http.ResponseWriter, in *http.Request) {
	var req api.PullRequest
	if err := json.NewDecoder(in.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	pulls := s.pulls
	s.mu.Unlock()
	if pulls != nil && !pulls(w, req.Model) {
		return
	}
	s.mu.Lock()
	s.models = append([]string{req.Model + ":latest"}, s.models...)
	s.mu.Unlock()
	fmt.Fprintln(w, `{"status":"success"}`)
}

func (s *shelf) chat(w http.ResponseWriter, in *http.Request) {
	var req api.ChatRequest
	if err := json.NewDecoder(in.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	fmt.Fprintf(w, `{"model":%q,"message":{"role":"assistant","content":"I am %s."},"done":false}`+"\n", req.Model, req.Model)
	fmt.Fprintf(w, `{"model":%q,"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`+"\n", req.Model)
}

// requests returns the chat requests so far.
func (s *shelf) requests() []api.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// TestOffer: the first run offers the installed models, uses the chosen one, and saves the choice
// in the configuration.
func TestOffer(t *testing.T) {
	for _, tt := range []struct {
		name, typed, model, want string
		file                     string // the configuration before the run
	}{
		{"the second", "2\r", "", "second:latest", ""},
		{"just Enter", "\r", "", "first:1b", ""},
		{"with a file of one's own", "2\r", "", "second:latest", "# mine\nexecutive:\n  name: Bob # as he is called\n"},
		{"with a file that is not changed", "2\r", "", "second:latest", "executive: {name: Bob}\n"},
		{"none", "n\r", "", "", ""},
		{"a name", "second\r", "", "second:latest", ""},
		{"no such number at first", "7\r2\r", "", "second:latest", ""},
		{"no such number, no such name, and again", "7\rowl\r0\r", "", "", ""},
		{"one that is there", "", "second", "second", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, "first:1b", "second:latest")
			h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
			if tt.model != "" {
				h.env = append(h.env, "EARSHOT_EXECUTIVE_LLM_MODEL="+tt.model)
			}
			if tt.file != "" {
				h.write("config/earshot/config.yaml", tt.file)
			}
			w := h.begin("run")
			if tt.typed != "" {
				w.await("deepseek-r1:8b is not installed here. These models are: 1 first:1b 1.0 GB 2 second:latest 1.0 GB", 1)
				answers := 0
				for line := range strings.SplitAfterSeq(strings.TrimSuffix(tt.typed, "\r"), "\r") {
					answers++
					w.await("Which one should answer? [1, or n for none]", answers)
					w.types(strings.TrimSuffix(line, "\r") + "\r")
				}
				if strings.HasPrefix(tt.typed, "7") {
					w.await("There is no 7.", 1)
				}
			}
			w.await("is running.", 1)
			w.types("\r")
			if tt.want == "" {
				w.await("✗ model", 1)
				w.await("→ earshot models use first:1b, or: ollama pull deepseek-r1:8b (there is: first:1b, second:latest)", 1)
				w.says("what time is it?")
				w.await("Earshot: It is ", 1)
				return
			}
			if strings.Contains(tt.file, "{") {
				w.await("It is used for now. ~/config/earshot/config.yaml was not changed: earshot cannot edit a file that is written this way → write this into it: executive.llm.model: second:latest", 1)
			}
			w.awaitModel("✓ model " + tt.want + " on ollama at")
			w.says("hello, who is there?")
			w.await(": I am "+tt.want+".", 1)
			if r := h.earshot(nil, "reload"); r.code != success {
				t.Errorf("reload ended with %d: %s", r.code, r.err)
			}
			w.says("hello, is it still you?")
			w.await(": I am "+tt.want+".", 2)
			w.says("/exit")
			w.ended()
			for _, req := range s.requests() {
				if req.Model != tt.want {
					t.Errorf("%s was asked", req.Model)
				}
			}
			kept(t, h, tt.file, tt.typed != "", tt.want)
		})
	}
}

// kept checks the configuration file after a choice.
func kept(t *testing.T, h *home, before string, chosen bool, model string) {
	t.Helper()
	switch {
	case before != "":
		if now := h.read("config/earshot/config.yaml"); now != strings.Replace(before, "executive:\n", "executive:\n  llm:\n    model: "+model+"\n", 1) {
			t.Errorf("a file that somebody wrote was changed to\n%s", now)
		}
	case chosen:
		c, err := config.Parse("config.yaml", []byte(h.read("config/earshot/config.yaml")), nil)
		if err != nil || c.Executive.LLM.Model != model {
			t.Errorf("kept %q: %v", c.Executive.LLM.Model, err)
		}
		if r := h.ask("who is there?"); r.out != "I am "+model+".\n" {
			t.Errorf("the next run answers %q", r.out)
		}
	}
}

// TestOfferDownload: if no model is installed, the first run offers to download one that can call
// tools, says how large it is, and downloads and saves it if the person agrees.
func TestOfferDownload(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		pulls       func(w http.ResponseWriter, model string) bool
		want        string // on the screen
	}{
		{"yes", "y\r", nil, "✓ model llama3.2 on ollama at"},
		{"no", "\r", nil, "✗ model"},
		{"yes, but it cannot be had", "y\r", func(w http.ResponseWriter, _ string) bool {
			fmt.Fprintln(w, `{"error":"write /models/blob: no space left on device"}`)
			return false
		}, "did not download llama3.2: write /models/blob: no space left on device → make room on the disk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			s.downloads(tt.pulls)
			h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
			w := h.begin("run")
			w.await("No model is installed here. llama3.2 is small and can call tools; the download has 2.0 GB. Download it now? [y/N]", 1)
			w.types(tt.typed)
			if strings.HasPrefix(tt.want, "✓") {
				w.awaitModel(tt.want)
			} else {
				w.await(tt.want, 1)
			}
			w.await("is running.", 1)
			w.types("\r")
			if tt.name == "yes" {
				w.says("hello, who is there?")
				w.await(": I am llama3.2.", 1)
				kept(t, h, "", true, "llama3.2")
			}
			w.says("/exit")
			w.ended()
		})
	}
}

// TestOfferNobody: in a pipe nobody is asked; the hint says what to do instead.
func TestOfferNobody(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "first:1b")
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
	r := h.ask("what time is it?")
	if !strings.HasPrefix(r.out, "It is ") || !strings.Contains(r.err, "→ earshot models use first:1b, or: ollama pull deepseek-r1:8b\n") || strings.Contains(r.err+r.out, "Which one") {
		t.Errorf("printed %q and %q", r.out, r.err)
	}
	if said := h.replies(); len(said) != 1 || said[0].Outcome != earshot.Completed {
		t.Errorf("the transcript says %+v", said)
	}
}
