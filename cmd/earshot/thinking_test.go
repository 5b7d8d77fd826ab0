package main

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
	"earshot/store"
)

// A question to think about, and another one asked in between.
const (
	wonder  = "/think will the boat leave in time?"
	outcome = "The boat will leave in time, with the tide at six."
	aside   = "hey, who has the key?"
	answer  = "Bob has the key."
	goesOn  = "The hurry is about the boat."
)

// foundOut is the model's answer once it has found the outcome.
var foundOut = fmt.Sprintf(`{"findings": [{"text": %q, "evidence": ["e1"], "confidence": 0.9, "minutes": 30, "worth_saying": true}]}`, outcome)

// musing returns a thought of so many words.
func musing(words int) string {
	var all []string
	for i := range words {
		all = append(all, fmt.Sprintf("muse%03d", i))
	}
	return strings.Join(all, " ")
}

// interruptsAThought lets a person ask for a thought, watch it grow, ask something else in between,
// hear the outcome, and ask why it was said.
func interruptsAThought(t *testing.T, h *home) {
	w := h.open("run")
	w.says("hello")
	w.await("Earshot: ", 1)
	w.says(wonder)
	w.await("I am thinking about it", 1)
	testkit.Await(t, soon, "the thought to grow", func() bool {
		w.says("/think")
		return strings.Contains(w.still(), "muse001")
	})
	answered := strings.Count(w.text(), "Earshot: "+answer)
	w.says(aside)
	w.await("Earshot: "+answer, answered+1)
	w.await("Earshot: "+outcome, 1)
	w.says("/think")
	w.await("% sure: "+outcome, 1)
	if why := h.earshot(nil, "why"); !strings.Contains(why.out, "now it is ready") {
		t.Errorf("why prints %q, complaints %q", why.out, why.err)
	}
	w.says("/exit")
	w.ended()
	stretches(t, h)
	for _, r := range h.replies() {
		if text := string(r.Offered); strings.Contains(text, "muse") || strings.Contains(text, goesOn) {
			t.Errorf("it said what it thought: %q", text)
		}
	}
	if log := h.everything("state/earshot/earshot.log"); strings.Contains(log, "muse") || strings.Contains(log, "boat") {
		t.Error("what was thought is in the log")
	}
}

// stretches checks what the journal says about the thought: it gave way to the person, kept what it
// had, and went on to its end with what had come in between.
func stretches(t *testing.T, h *home) {
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: h.dir + "/state/earshot/journal"})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var first earshot.EventID
	var all []earshot.Thought
	for e, err := range archive.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Body.(earshot.Thought); ok {
			if len(all) == 0 {
				first = e.ID
			} else if s.Of != first {
				t.Errorf("a stretch is of %s, not of %s", s.Of, first)
			}
			all = append(all, s)
		}
	}
	if len(all) < 3 || all[0].Outcome != earshot.Asked {
		t.Fatalf("the thought has the stretches %+v, want that it was asked for, one that gave way, and one that went on", all)
	}
	for i, s := range all[1 : len(all)-1] {
		if s.Outcome != earshot.Interrupted || s.Cut == nil || s.Dropped {
			t.Errorf("stretch %d of %d is %s, by %+v", i, len(all), s.Outcome, s.Cut)
		}
	}
	if last := all[len(all)-1]; last.Outcome != earshot.Completed || strings.TrimSpace(string(last.Text)) != goesOn {
		t.Errorf("the last is %s: %q", last.Outcome, string(last.Text))
	}
}

// TestThinking runs the thought on a terminal, with the scripted model.
func TestThinking(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(`every_seconds: 0.05
reply: Hello there.
rules:
  - {when: the key, reply: ` + answer + `}
  - {for: thought, when: "You were interrupted by:", reply: ` + goesOn + `}
  - {for: thought, when: "", reply: ` + musing(1500) + `}
  - {for: findings, when: "", reply: '` + foundOut + `'}
`)
	interruptsAThought(t, h)
}

// TestThinkShowsItGrow: at the console /think shows the thought as it grows, and does not interrupt
// it, being a command and not talk. A plain key parks the thought at once, and emptying the line
// lets it go on. After an answer it goes on as well, with that answer in mind.
func TestThinkShowsItGrow(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(`every_seconds: 0.05
reply: Hello there.
rules:
  - {when: the key, reply: ` + answer + `}
  - {for: thought, when: "You were interrupted by:", reply: ` + strings.ReplaceAll(musing(1500), "muse", "further") + `}
  - {for: thought, when: "", reply: ` + musing(1500) + `}
`)
	w := h.open("run")
	w.says("hello")
	w.await("Earshot: Hello there.", 1)
	w.says(wonder)
	w.await("I am thinking about it", 1)
	shows := func(what, want string) {
		t.Helper()
		grows := regexp.MustCompile(want)
		testkit.Await(t, soon, "the thought "+what, func() bool {
			w.says("/think")
			return grows.MatchString(w.still())
		})
	}
	shows("to grow", `Thinking, (\d+) tokens? .*muse001.*Thinking, (\d+) tokens? .*muse001`)
	if strings.Contains(w.text(), "Parked") {
		t.Error("a command has parked it")
	}
	w.types("x")
	testkit.Await(t, soon, "the thought to be parked", func() bool { return strings.HasPrefix(h.earshot(nil, "think").out, "Parked") })
	w.types("\x7f")
	shows("to go on", `Thinking, \d+ tokens? .*muse001.* … \w+ began to type`)
	w.says(aside)
	w.await("Earshot: "+answer, 1)
	shows("to go on with the answer in mind", `Thinking, \d+ tokens? .*muse001.* … \w+ (began to type|said something).*further001`)
	w.says("/think stop")
	w.await("I have stopped thinking about it.", 1)
	w.says("/exit")
	w.ended()
}

// TestThinkingOllama does what TestThinking does, with a real server that has one slot for both the
// thought and the answers.
func TestThinkingOllama(t *testing.T) {
	t.Parallel()
	s := ollamatest.Start(t, ollamatest.Options{})
	model := ollamatest.Model{
		Tools: true, Instructed: true, Layers: 1, Words: 65536,
		Says: answer,
		Routes: []ollamatest.Route{ // words in the last message of the prompt
			{Word: "Ponder", Says: musing(480)},
			{Word: "interrupted by:", Says: goesOn},
			{Word: "JSON", Says: foundOut},
		},
	}
	if err := s.Make(t.Context(), "thinker", model); err != nil {
		t.Fatal(err)
	}
	interruptsAThought(t, newHome(t,
		"EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=thinker",
		"EARSHOT_EXECUTIVE_CONVERSATIONAL_SYSTEM_PROMPT=Talk.", "EARSHOT_EXECUTIVE_REASONING_SYSTEM_PROMPT=Ponder.",
		// While other tests run, the model takes a minute to read who is here, and longer to read a
		// dialogue.
		"EARSHOT_EXECUTIVE_LLM_FIRST_TOKEN_SECONDS=170", "EARSHOT_EXECUTIVE_LLM_TOTAL_SECONDS=175"))
}

// TestAKillForgetsNoQuestion: if the daemon is killed when it has only begun to think about a
// question, it thinks about it after the next start.
func TestAKillForgetsNoQuestion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script := "reply: Hello there.\nrules:\n  - {for: thought, when: \"\", every_seconds: %v, reply: " + musing(50) + "}\n  - {for: findings, when: \"\", reply: '" + foundOut + "'}\n"
	h.scripted(fmt.Sprintf(script, 1))
	d := h.daemon()
	h.earshot(nil, "say", "hello")
	if r := h.earshot(nil, "think", "--identity", "Bob", "will the boat leave in time?"); !strings.Contains(r.out, "I am thinking about it") {
		t.Fatalf("it says %q, %s", r.out, r.err)
	}
	testkit.Await(t, soon, "the thought to grow", func() bool { return strings.Contains(h.earshot(nil, "think").out, "muse000") })
	d.end(syscall.SIGKILL)
	h.write("model.yaml", fmt.Sprintf(script, 0.001))
	h.daemon()
	testkit.Await(t, soon, "what comes of it", func() bool { return strings.Contains(h.earshot(nil, "think").out, "% sure: "+outcome) })
}
