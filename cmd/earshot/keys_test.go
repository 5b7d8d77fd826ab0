package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ollama/ollama/api"

	"earshot/internal/testkit"
)

// TestKeys checks for each key what it changes in the whole program. The keys that change what a
// room does are tested in executive/room.
func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		key   string
		check func(t *testing.T, h *home)
	}{
		{"executive.llm.model", askedFor(func(r api.ChatRequest) any { return r.Model }, "EARSHOT_EXECUTIVE_LLM_MODEL=second", "first:1b", "second")},
		{"executive.llm.host", otherHost},
		{"executive.llm.provider", otherProvider},
		{"executive.llm.engines", nextEngine},
		{"executive.llm.first_token_seconds", patient("FIRST_TOKEN", "")},
		{"executive.llm.idle_seconds", patient("IDLE", "one ")},
		{"executive.llm.total_seconds", patient("TOTAL", "one ")},
		{"executive.conversational.temperature", askedFor(func(r api.ChatRequest) any { return r.Options["temperature"] }, "EARSHOT_EXECUTIVE_CONVERSATIONAL_TEMPERATURE=0.25", 0.7, 0.25)},
		{"executive.conversational.max_tokens", askedFor(func(r api.ChatRequest) any { return r.Options["num_predict"] }, "EARSHOT_EXECUTIVE_CONVERSATIONAL_MAX_TOKENS=33", 512.0, 33.0)},
		{"executive.streaming.enabled", askedFor(func(r api.ChatRequest) any { return *r.Stream }, "EARSHOT_EXECUTIVE_STREAMING_ENABLED=false", true, false)},
		{"executive.streaming.buffer_size", ahead},
		{"store.directory", otherDirectory},
		{"server.socket", otherSocket},
		{"log.file", otherLog},
		{"log.level", louder},
		{"providers.console.enabled", deaf},
		{"outlets.console.enabled", mute},
	} {
		t.Run(tt.key, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.scripted(teller)
			tt.check(t, h)
		})
	}
}

// askedFor returns a check of the request to the model server, without and with a variable in the
// environment.
func askedFor(look func(api.ChatRequest) any, variable string, usual, changed any) func(*testing.T, *home) {
	return func(t *testing.T, h *home) {
		for _, tt := range []struct {
			environ []string
			want    any
		}{{nil, usual}, {[]string{variable}, changed}} {
			s := newShelf(t, "first:1b", "second:latest")
			h.served(s.URL, tt.environ...).ask("hello")
			if n := len(s.requests()); n != 1 {
				t.Fatalf("%d requests", n)
			}
			if got := look(s.requests()[0]); got != tt.want {
				t.Errorf("asked with %v, want %v", got, tt.want)
			}
		}
	}
}

// served returns h with the first model of the Ollama server at url.
func (h *home) served(url string, environ ...string) *home {
	return h.with(append([]string{
		"EARSHOT_EXECUTIVE_LLM_PROVIDER=ollama", "EARSHOT_EXECUTIVE_LLM_SCRIPT=",
		"EARSHOT_EXECUTIVE_LLM_MODEL=first:1b", "EARSHOT_EXECUTIVE_LLM_HOST=" + url,
	}, environ...)...)
}

func otherHost(t *testing.T, h *home) {
	one, two := newShelf(t, "first:1b"), newShelf(t, "first:1b")
	h.served(two.URL).ask("hello")
	if len(one.requests()) != 0 || len(two.requests()) != 1 {
		t.Errorf("%d and %d requests", len(one.requests()), len(two.requests()))
	}
}

func otherProvider(t *testing.T, h *home) {
	if r := h.ask("your name?"); r.out != "My name is Earshot.\n" {
		t.Errorf("the script says %q", r.out)
	}
	if r := h.served(newShelf(t, "first:1b").URL).ask("your name?"); r.out != "I am first:1b.\n" {
		t.Errorf("the server says %q", r.out)
	}
}

// nextEngine: if the first engine of a list does not answer, the next one does.
func nextEngine(t *testing.T, h *home) {
	h.write("config/earshot/config.yaml", "executive:\n  llm:\n    engines:\n"+
		"      - provider: ollama\n        host: http://127.0.0.1:1\n        model: none\n"+
		"      - provider: script\n        script: "+filepath.Join(h.dir, "model.yaml")+"\n")
	plain := *h
	plain.env = nil
	for _, entry := range h.env {
		if !strings.HasPrefix(entry, "EARSHOT_") {
			plain.env = append(plain.env, entry)
		}
	}
	if r := plain.ask("your name?"); r.out != "My name is Earshot.\n" || !strings.Contains(r.err, "✗ model") || !strings.Contains(r.err, "✓ model") || strings.Contains(r.err, "Until a model answers") {
		t.Errorf("printed %q and %q", r.out, r.err)
	}
}

// patient returns a check that earshot gives up on a model which says no more than says and then
// stalls. Without the key it would wait for minutes.
func patient(key, says string) func(*testing.T, *home) {
	return func(t *testing.T, h *home) {
		script := map[string]string{
			"FIRST_TOKEN": "every_seconds: 2000\nreply: one two\n",
			"IDLE":        "every_seconds: 1.5\nreply: one two\n", // the first word may take that long, the second may not
			"TOTAL":       "every_seconds: 0.7\nreply: " + strings.Repeat("one ", 2000) + "\n",
		}
		h.scripted(script[key])
		environ := []string{"EARSHOT_EXECUTIVE_LLM_" + key + "_SECONDS=1"}
		if key == "TOTAL" { // it is at least as long as the limit for the first token
			environ = append(environ, "EARSHOT_EXECUTIVE_LLM_FIRST_TOKEN_SECONDS=1")
		}
		r := h.with(environ...).ask("hello")
		if said := h.replies(); len(said) != 1 || said[0].Outcome != "failed" || !strings.HasPrefix(strings.TrimRight(r.out, "\n")+" ", says) {
			t.Errorf("printed %q and %q; the transcript says %+v", r.out, r.err, said)
		}
		if !strings.Contains(r.err, "stalled") {
			t.Errorf("complained %q", r.err)
		}
	}
}

// ahead: while a reply is paused, the model runs ahead of it only so far.
func ahead(t *testing.T, h *home) {
	for _, tt := range []struct {
		size        string
		least, most int
	}{{"128", 30, 140}, {"2", 1, 10}} {
		h := newHome(t, "EARSHOT_EXECUTIVE_STREAMING_BUFFER_SIZE="+tt.size)
		h.scripted(strings.Replace(teller, "0.05", "0.02", 1))
		w := h.open("run")
		w.says("tell me a story")
		w.await("word003", 1)
		w.types("x")
		w.still()
		w.still()
		w.says("stop")
		w.await("[cut off]", 1)
		testkit.Await(t, soon, "the reply on record", func() bool { return len(h.replies()) == 1 })
		if n := strings.Count(string(h.replies()[0].Remainder()), "word"); n < tt.least || n > tt.most {
			t.Errorf("with %s, it is %d words ahead, want %d to %d", tt.size, n, tt.least, tt.most)
		}
	}
}

func otherDirectory(t *testing.T, h *home) {
	h.with("EARSHOT_STORE_DIRECTORY=" + filepath.Join(h.dir, "elsewhere")).ask("your name?")
	if !strings.Contains(h.everything("elsewhere"), "your name?") || h.history() != nil {
		t.Error("the journal is not where it should be")
	}
}

func otherSocket(t *testing.T, h *home) {
	other := filepath.Join(filepath.Dir(filepath.Dir(h.socket)), "elsewhere", "s")
	h.env = append(h.env, "EARSHOT_SERVER_SOCKET="+other)
	usual := h.socket
	h.socket = other
	d := h.daemon()
	if _, err := os.Stat(usual); err == nil {
		t.Error("the usual socket is there as well")
	}
	if r := h.earshot(nil, "say", "your name?"); r.out != "My name is Earshot.\n" {
		t.Errorf("say prints %q and %q", r.out, r.err)
	}
	d.end(syscall.SIGTERM)
}

func otherLog(t *testing.T, h *home) {
	h.with("EARSHOT_LOG_FILE=" + filepath.Join(h.dir, "here.log")).ask("your name?")
	if log := h.read("here.log"); !strings.Contains(log, "earshot runs") {
		t.Errorf("logged %q", log)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "state/earshot/earshot.log")); err == nil {
		t.Error("the usual log is there as well")
	}
	if r := h.with("EARSHOT_LOG_FILE=-").ask("your name?"); !strings.Contains(r.err, "earshot runs") {
		t.Errorf("standard error has no log: %q", r.err)
	}
}

func louder(t *testing.T, h *home) {
	for _, tt := range []struct {
		level       string
		info, debug bool
	}{{"debug", true, true}, {"info", true, false}, {"error", false, false}} {
		file := filepath.Join(h.dir, tt.level+".log")
		h.with("EARSHOT_LOG_LEVEL="+tt.level, "EARSHOT_LOG_FILE="+file).ask("your name?")
		log := h.read(tt.level + ".log")
		if strings.Contains(log, "earshot runs") != tt.info || strings.Contains(log, "turn begins") != tt.debug {
			t.Errorf("at level %s it logged\n%s", tt.level, log)
		}
	}
}

// deaf: without the console as a sense the terminal only shows; nothing typed is taken.
func deaf(t *testing.T, h *home) {
	d := h.with("EARSHOT_PROVIDERS_CONSOLE_ENABLED=false").open("run")
	d.await("Earshot is running.", 1)
	testkit.Await(t, soon, "the daemon", func() bool { _, err := h.client().State(t.Context()); return err == nil })
	d.says("your name?")
	if r := h.earshot(nil, "say", "your name?"); r.out != "My name is Earshot.\n" {
		t.Errorf("say prints %q and %q", r.out, r.err)
	}
	d.await("Earshot → user: My name is Earshot.", 1)
	if n := len(h.replies()); n != 1 {
		t.Errorf("%d replies", n)
	}
}

// mute: without the console as an outlet, what is typed is taken, and answered elsewhere.
func mute(t *testing.T, h *home) {
	h = h.with("EARSHOT_OUTLETS_CONSOLE_ENABLED=false")
	w := h.open("run")
	w.await(">", 1)
	other := h.open("chat")
	other.await(">", 1)
	w.says("what is your name?")
	other.await("Earshot: My name is Earshot.", 1)
	if strings.Contains(w.text(), "My name is") {
		t.Errorf("the terminal shows\n%s", w.text())
	}
}
