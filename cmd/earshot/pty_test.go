package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/interrupt"
)

// story is a reply of half a minute, so that it still goes on when a busy machine is slow to
// interrupt it.
var story = func() string {
	var words []string
	for i := range storyWords {
		words = append(words, fmt.Sprintf("word%03d", i))
	}
	return strings.Join(words, " ") + "."
}()

const storyWords = 600

// teller is a script that tells the story.
var teller = "every_seconds: 0.05\nreply: " + story + "\nrules:\n  - when: your name\n    reply: My name is Earshot.\n"

// words returns how many words of the story are on the screen.
func (w *window) words() int {
	text, n := w.text(), 0
	for n < storyWords && strings.Contains(text, fmt.Sprintf("word%03d", n)) {
		n++
	}
	return n
}

func TestOpeningScreen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	w := h.open("run")
	w.await("Earshot is running.", 1)
	w.awaitModel("✓ model")
	w.await("✓ journal ~/state/earshot/journal", 1)
	w.await("✓ console type here; /help", 1)
	w.await(">", 1)
	if w.state() == w.before {
		t.Error("the terminal was never taken over")
	}
	w.says("what is your name?")
	w.await("Earshot: My name is Earshot.", 1)
	w.says("/exit")
	if code := w.ended(); code != success {
		t.Errorf("/exit ends it with %d", code)
	}
}

// TestCutByTyping: the first key pauses the reply, an emptied line resumes it, and Enter cuts it.
// The transcript says truthfully what was heard.
func TestCutByTyping(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	w := h.open("run")
	w.says("tell me a story")
	w.await("word003", 1)

	w.types("x")
	paused := w.still()
	if n := w.words(); n == storyWords || !strings.HasSuffix(paused, "> x") {
		t.Fatalf("the first key did not pause the reply: %s", paused)
	}
	before := w.words()
	w.types("\x7f")
	w.await(fmt.Sprintf("word%03d", before+2), 1)

	w.types("sto")
	w.still() // meanwhile the model runs ahead
	w.says("p")
	w.await("[cut off]", 1)
	shown := w.text()
	w.await("the rest is kept: ask \"what were you saying?\"", 1)
	said := h.replies()[0]
	if said.Outcome != earshot.Interrupted || said.Cut == nil || said.Cut.By != "owner" || said.Cut.Signal != interrupt.Command.String() {
		t.Errorf("the transcript says %v by %+v", said.Outcome, said.Cut)
	}
	if offered := string(said.Offered); !strings.HasPrefix(story, strings.TrimSpace(offered)) || offered == "" {
		t.Errorf("%q was offered", offered)
	}
	heard := strings.TrimSpace(string(said.Delivered()))
	if !strings.Contains(shown, "Earshot: "+heard+" [cut off]") || heard == "" || heard == story {
		t.Errorf("the transcript calls %q heard; the window shows\n%s", heard, shown)
	}
	if said.Remainder() == "" {
		t.Fatal("nothing is left: the model did not run ahead while the reply was paused")
	}

	w.says("what were you saying?")
	rest := strings.TrimSpace(string(said.Remainder()))
	w.await("(the reply reached the limit", 1) // the model goes on after the rest
	w.says("/exit")
	if code := w.ended(); code != success {
		t.Errorf("/exit ends it with %d", code)
	}
	all := h.replies()
	if last := strings.TrimSpace(string(all[len(all)-1].Delivered())); len(all) != 2 || !strings.Contains(story, last) || !strings.Contains(last, rest) || strings.HasSuffix(last, rest) {
		t.Errorf("the transcript has %d replies, the last %q", len(all), last)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	w := h.open("run")
	w.await(">", 1)
	w.says("/why")
	w.await("No decision has been made yet", 1)
	w.says("what is your name?")
	w.await("My name is Earshot.", 1)
	for _, tt := range []struct{ command, answer string }{
		{"/help", "/exit"},
		{"/who", "Earshot (agent)"},
		{"/why", "I answered because nobody else is here, so it was for me"},
		{"/identity", "You are an operator of this earshot."},
		{"/context", "what is your name?"},
		{"/", "a command needs a name"},
		{"dance", "there is no /dance"}, // typed after the slash, which is still there
	} {
		before := strings.Count(w.text(), tt.answer)
		w.says(tt.command)
		w.await(tt.answer, before+1)
	}
	w.types("\x03") // clears the line, which has the refused command back
	w.says("//slash is your name?")
	w.await("My name is Earshot.", 2)
	w.types("\x04")
	if code := w.ended(); code != success {
		t.Errorf("^D ends it with %d", code)
	}
}

// TestInterruptKey: the first ^C stops a reply, the next asks whether to leave, and one more
// leaves.
func TestInterruptKey(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	w := h.open("run")
	w.says("tell me a story")
	w.await("word002", 1)
	w.types("\x03")
	w.await("[cut off]", 1)
	w.types("\x03")
	w.await("(^C again, ^D or /exit to leave)", 1)
	w.types("\x03")
	if code := w.ended(); code != success {
		t.Errorf("^C ends it with %d", code)
	}
	if said := h.replies(); len(said) != 1 || said[0].Outcome != earshot.Interrupted {
		t.Errorf("the transcript has %d replies", len(said))
	}
}

// TestTwoTerminals: both terminals show what is written in either. The first key in one pauses the
// reply on both, and the other can cut it.
func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	a := h.open("run")
	a.await(">", 1)
	b := h.open("chat")
	b.await(">", 1)
	a.says("tell me a story")
	b.await("tell me a story", 1)
	a.await("word003", 1)
	b.await("word003", 1)

	b.types("x")
	a.still()
	if n := a.words(); n == storyWords {
		t.Fatal("a key in the other terminal does not pause the reply")
	}
	if n := b.words(); n == storyWords {
		t.Fatal("a key does not pause the reply where it was typed")
	}
	a.says("stop")
	a.await("[cut off]", 1)
	b.await("[cut off]", 1)
	b.types("\x7f")
	b.says("what is your name?")
	b.await("Earshot: My name is Earshot.", 1)
	a.await("what is your name?", 1)
	a.await("Earshot: My name is Earshot.", 1)

	said := h.replies()[0]
	if len(said.Heard) != 2 || said.Outcome != earshot.Interrupted {
		t.Fatalf("%+v", said.Heard)
	}
	for i, w := range []*window{a, b} {
		heard := strings.TrimSpace(string(said.Offered[:said.Heard[i].Bytes]))
		if !strings.Contains(w.text(), "Earshot: "+heard+" [cut off]") {
			t.Errorf("window %d does not show %q, which %s is said to have shown", i, heard, said.Heard[i].Outlet)
		}
	}
	b.says("/exit")
	if code := b.ended(); code != success {
		t.Errorf("/exit ends chat with %d", code)
	}
	a.says("what is your name?")
	a.await("Earshot: My name is Earshot.", 2)
}

// TestDeathOfTheDaemon: an attached terminal says once that the daemon is gone, and goes on when
// there is a daemon again. Lines typed meanwhile are sent then.
func TestDeathOfTheDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	d := h.daemon()
	w := h.open("chat")
	w.says("tell me a story")
	w.await("word003", 1)
	d.end(syscall.SIGKILL)
	w.await("the connection to earshot was lost", 1)
	w.says("and another story")
	w.says("/agent") // sent after the line above

	// The turn that was under way gets an end when earshot runs again.
	h.daemon()
	w.await("earshot is back", 1)
	testkit.Await(t, soon, "an end of the turn", func() bool { return len(h.replies()) > 0 })
	if said := h.replies(); said[0].Outcome != earshot.Failed {
		t.Errorf("the transcript says %+v", said)
	}
	w.await("word003", 2)
	w.await("/owner/agent/earshot", 1)
	if text := w.text(); strings.Count(text, "was lost") != 1 || strings.Count(text, "earshot is back") != 1 {
		t.Errorf("it shows\n%s", text)
	}
	w.says("/exit")
	if code := w.ended(); code != success {
		t.Errorf("chat ends with %d", code)
	}
}

// TestTermination: a reply under way is cut off and recorded, and the end does not take long.
func TestTermination(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.scripted(teller)
			w := h.open("run")
			w.says("tell me a story")
			w.await("word003", 1)
			w.cmd.Process.Signal(s)
			if code := w.ended(); code != success { // it fails if the end took more than four seconds
				t.Errorf("it ends with %d", code)
			}
			said := h.replies()
			if len(said) != 1 || said[0].Outcome != earshot.Interrupted || said[0].Cut.Signal != interrupt.Shutdown.String() {
				t.Fatalf("the transcript says %+v", said)
			}
			heard := strings.TrimSpace(string(said[0].Delivered()))
			if heard == "" || !strings.Contains(w.text(), "Earshot: "+heard+" [cut off]") {
				t.Errorf("the transcript calls %q heard; the window shows\n%s", heard, w.text())
			}
			if _, err := h.client().State(t.Context()); !errors.Is(err, syscall.ENOENT) && err == nil {
				t.Error("something still answers")
			}
		})
	}
}

// TestSayAmongOthers: say prints the reply to its own message, and nothing of the reply that it cut
// off.
func TestSayAmongOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	h.daemon()
	w := h.open("chat")
	for i := range 2 {
		w.says("tell me a story")
		w.await("Earshot: word000 word001 word002", i+1)
		args := []string{"say", "what is your name?"}
		want := "My name is Earshot.\n"
		if i == 1 {
			args = []string{"say", "--json", "what is your name?"}
			want = ""
		}
		r := h.earshot(nil, args...)
		w.await("[cut off]", i+1)
		if r.code != success || want != "" && r.out != want || want == "" && strings.Count(r.out, "\n") != 1 {
			t.Errorf("%q ended with %d and printed %q", args, r.code, r.out)
		}
	}
}
