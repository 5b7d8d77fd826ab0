package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/probe"
	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
)

// What the real server's model says. The tale takes more than a second.
const (
	greeting = "I have nothing to say to that — nothing at all, 你好."
	name     = "I am a model that somebody made."
)

var tale = func() string {
	var sentences []string
	for i := range 36 {
		sentences = append(sentences, fmt.Sprintf("This is sentence number %d of the tale, it goes on.", i+1))
	}
	return strings.Join(sentences, " ")
}()

// TestOllama talks to a real server, from the terminal to the journal.
func TestOllama(t *testing.T) {
	t.Parallel()
	s := ollamatest.Start(t, ollamatest.Options{})
	model := ollamatest.Model{Tools: true, Says: greeting, Routes: []ollamatest.Route{{Word: "name", Says: name}, {Word: "day", Says: greeting}, {Word: "tale", Says: tale}}}
	if err := s.Make(t.Context(), "speaker", model); err != nil {
		t.Fatal(err)
	}
	settle := func(t *testing.T) *home {
		// A prompt that the model did not say itself costs this model a token a byte.
		return newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=speaker",
			"EARSHOT_EXECUTIVE_CONVERSATIONAL_SYSTEM_PROMPT=Talk.", "EARSHOT_EXECUTIVE_CONVERSATIONAL_MAX_TOKENS=2000",
			// While other tests run, the model takes a minute to read who is here, and longer to
			// read a dialogue.
			"EARSHOT_EXECUTIVE_LLM_FIRST_TOKEN_SECONDS=170", "EARSHOT_EXECUTIVE_LLM_TOTAL_SECONDS=175")
	}

	t.Run("ByteForByte", func(t *testing.T) {
		for question, want := range map[string]string{"good day to you": greeting, "tell me a tale": tale} {
			h := settle(t) // without an earlier dialogue, which the model would have to read
			r := h.ask(question)
			if r.out != want+"\n" || r.code != success {
				t.Errorf("ended with %d and printed %q, want %q; complaints:\n%s", r.code, r.out, want, r.err)
			}
			if said := h.replies(); len(said) != 1 || string(said[0].Delivered()) != want || said[0].Outcome != earshot.Completed {
				t.Errorf("the transcript says %+v", said)
			}
		}
	})

	// during does something while the tale is told. A machine that is busy elsewhere may do it only
	// after the tale; then it is told again.
	during := func(t *testing.T, do func(*home, *window)) (*home, *window) {
		for range 5 {
			h := settle(t)
			w := h.open("run")
			w.says("tell me a tale")
			w.await("This is sentence number 3 ", 1)
			do(h, w)
			if said := h.replies(); len(said) == 0 || said[0].Outcome != earshot.Completed {
				return h, w
			}
		}
		t.Fatal("the tale was over each time before anything could be done")
		return nil, nil
	}

	t.Run("Cut", func(t *testing.T) {
		h, w := during(t, func(_ *home, w *window) {
			w.types("x")
			w.still()
		})
		w.types("\x7f")
		w.says("stop")
		w.await("[cut off]", 1)
		w.await("(Earshot says nothing: it tells me to stop)", 1)
		testkit.Await(t, soon, "the reply on record", func() bool { return len(h.replies()) > 0 }) // the window may be ahead of it
		said := h.replies()[0]
		heard := strings.TrimSpace(string(said.Delivered()))
		if said.Outcome != earshot.Interrupted || said.Cut == nil || said.Cut.By != "owner" || heard == "" || heard == tale {
			t.Fatalf("the transcript says %v by %+v after %q", said.Outcome, said.Cut, heard)
		}
		if !strings.Contains(w.text(), "Earshot: "+heard+" [cut off]") || !strings.HasPrefix(tale, string(said.Offered)) {
			t.Errorf("the transcript calls %q heard of %q; the window shows\n%s", heard, string(said.Offered), w.text())
		}
	})

	t.Run("Killed", func(t *testing.T) {
		h, w := during(t, func(h *home, w *window) {
			s.Kill()
			testkit.Await(t, soon, "the end of the reply", func() bool { return len(h.replies()) > 0 })
			if h.replies()[0].Outcome == earshot.Completed { // it was killed too late
				if err := s.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
		w.await("(broken off", 1)
		w.await("! ollama at", 1)
		broken := h.replies()[0]
		heard := strings.TrimSpace(string(broken.Delivered()))
		if broken.Outcome != earshot.Failed || heard == "" || !strings.HasPrefix(tale, heard) || !strings.Contains(w.text(), "Earshot: "+heard) {
			t.Errorf("the transcript says %v after %q; the window shows\n%s", broken.Outcome, heard, w.text())
		}
		for i := range 3 {
			w.says("what is your name?")
			w.await("(no reply from Earshot: ", i+1)
		}
		w.await("→ ollama serve", 1)
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.says("what is your name?")
		w.await("Earshot: "+name, 1)
		w.await("✓ the model answers again", 1)
		testkit.Await(t, soon, "five replies", func() bool { return len(h.replies()) == 5 })
		text := w.text()
		for _, once := range []string{": unreachable → ", "the model answers again"} {
			if n := strings.Count(text, once); n != 1 {
				t.Errorf("%q was said %d times", once, n)
			}
		}
		if n := strings.Count(text, "unreachable)"); n != 3 {
			t.Errorf("the reason stands behind %d of three replies that there were not", n)
		}
		if strings.Contains(h.everything("state/earshot/earshot.log"), "sentence number") {
			t.Error("the reply is in the log")
		}
	})
}

// TestModelsOfOllama: the models of a real server are listed with their abilities, and one can be
// chosen.
func TestModelsOfOllama(t *testing.T) {
	t.Parallel()
	s := ollamatest.Start(t, ollamatest.Options{})
	for name, m := range map[string]ollamatest.Model{
		"plain": {Says: greeting, Layers: 1}, "able": {Says: greeting, Layers: 1, Tools: true, Thinks: true},
	} {
		if err := s.Make(t.Context(), name, m); err != nil {
			t.Fatal(err)
		}
	}
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host())
	r := h.earshot(nil, "models", "use", "able")
	if r.code != success || !strings.HasPrefix(r.out, "Chosen to talk: able:latest on ollama. Saved in ") {
		t.Errorf("use ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	var list []probe.ModelInfo
	r = h.earshot(nil, "models", "list", "--json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%s [%s] %v %v", m.Model, m.Abilities(), m.InUse, m.Bytes > 0))
	}
	slices.Sort(got)
	if want := "able:latest [tools, thinking] [talk think] true|plain:latest [] [] true"; strings.Join(got, "|") != want {
		t.Errorf("lists %s, want %s", strings.Join(got, "|"), want)
	}
}
