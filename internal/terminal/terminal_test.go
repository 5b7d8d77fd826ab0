package terminal_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/term"

	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	os.Setenv("TERM", "xterm") // whatever terminal the tests run on
	goleak.VerifyTestMain(m)
}

const patience = 10 * time.Second // nothing here takes this long

// say prints all of text.
func say(t *testing.T, w *terminal.Terminal, text string) {
	t.Helper()
	for text != "" {
		n, err := w.Print(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
}

// sees fails unless the window shows want.
func sees(t *testing.T, w *terminaltest.Window, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	defer func() {
		if t.Failed() {
			t.Logf("seen:\n%s\n--\nwant:\n%s\n--", w.Screen(), want)
		}
	}()
	testkit.Await(t, patience, "the picture", func() bool { return w.Screen() == want })
}

func TestPictures(t *testing.T) {
	type window = *terminaltest.Window
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w window)
		want string
	}{
		{"a prompt", func(t *testing.T, w window) { w.Prompt("hello", 2) }, `
> he|llo`},
		{"a reply comes", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("earshot")
			say(t, w.Terminal, "The ti")
			say(t, w.Terminal, "des")
		}, `
earshot: The tides
> |`},
		{"a reply is broken at spaces", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("earshot")
			for _, piece := range strings.SplitAfter("The tides are the sea's answer to the moon", "") {
				say(t, w.Terminal, piece)
			}
		}, `
earshot: The tides
  are the sea's
  answer to the moon
> |`},
		{"a word longer than a row", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("e")
			say(t, w.Terminal, "0123456789012345678901234567890123456789")
		}, `
e: 01234567890123456
  789012345678901234
  56789
> |`},
		{"wide signs", func(t *testing.T, w window) {
			w.Prompt("日本", 3)
			w.Begin("e")
			say(t, w.Terminal, "日本語日本語日本語日")
		}, `
e: 日本語日本語日本
  語日
> 日|本`},
		{"a reply is waited for", func(t *testing.T, w window) {
			w.Prompt("hello", 2)
			w.Begin("earshot")
		}, `
earshot: …
> he|llo`},
		{"it is waited for without a name", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("")
		}, `
…
> |`},
		{"it comes where it was waited for", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Note(terminal.Line{Text: "before"})
			w.Begin("earshot")
			sees(t, w, "before\nearshot: …\n> |")
			say(t, w.Terminal, "The")
		}, `
before
earshot: The
> |`},
		{"it is waited for in vain", func(t *testing.T, w window) {
			w.Prompt("0123456789012345678901234", 18)
			w.Note(terminal.Line{Text: "before"})
			w.Begin("earshot")
			sees(t, w, "before\nearshot: …\n> 012345678901234567\n  |8901234")
			w.End(" [cut]")
		}, `
before
> 012345678901234567
  |8901234`},
		{"much happens while it is waited for", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("日本語日本語日本語")
			sees(t, w, "日本語日本…: …\n> |")
			w.Note(terminal.Line{Head: "bob: ", Text: "hello everybody in here"})
			w.Prompt("日本語日本語日本語日本語", 36)
			w.Echo("/who")
		}, `
bob: hello everybody
  in here
> /who
日本語日本…: …
> 日本語日本語日本語
  日本語|`},
		{"it is waited for on a wiped screen", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			w.Note(terminal.Line{Text: "old"})
			w.Wipe()
		}, `
e: …
> x|`},
		{"it has no room to be waited for", func(t *testing.T, w window) {
			w.Prompt("1\n2\n3\n4\n5", 9)
			w.Begin("e")
			sees(t, w, "e: …\n> 1\n  2\n  3\n  4\n  5|")
			w.Prompt("1\n2\n3\n4\n5\n6", 11)
		}, `
> 1
  2
  3
  4
  5
  6|`},
		{"it waits for something before its first words", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("earshot")
			w.Note(terminal.Line{Head: "earshot → bob: ", Text: "hi"})
			w.Wait("bob\nthinks")
			sees(t, w, "earshot → …hi\nbob thinks …\n> x|")
			w.Wait("")
			sees(t, w, "earshot → …hi\nearshot: …\n> x|")
			w.Wait("a name that is much longer than a row")
			sees(t, w, "earshot → …hi\na name that is mu… …\n> x|")
			say(t, w.Terminal, "yes")
		}, `
earshot → …hi
earshot: yes
> x|`},
		{"it waits for something in its midst", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			say(t, w.Terminal, "I ask Bob. ")
			w.Wait("bob thinks")
			sees(t, w, "e: I ask Bob.\nbob thinks …\n> x|")
			say(t, w.Terminal, "Yes.")
			sees(t, w, "e: I ask Bob. Yes.\n> x|")
			w.Wait("cy thinks")
			sees(t, w, "e: I ask Bob. Yes.\ncy thinks …\n> x|")
			w.End(" [cut]")
		}, `
e: I ask Bob. Yes.
  [cut]
> x|`},
		{"something happens in its midst", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			w.After(terminal.Line{Head: "e → b: ", Text: "hi"})
			sees(t, w, "e → b: hi\ne: …\n> x|")
			say(t, w.Terminal, "I ask Bob, who knows.")
			w.Echo("typed")
			w.After(terminal.Line{Head: "e → b: ", Text: "hello"})
			sees(t, w, "e → b: hi\ne: I ask Bob, who\n  knows.\n> typed\ne → b: hello\ne: …\n> x|")
			w.End("")
		}, `
e → b: hi
e: I ask Bob, who
  knows.
> typed
e → b: hello
> x|`},
		{"it goes on after what happened in its midst", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			say(t, w.Terminal, "I ask Bob.")
			w.After(terminal.Line{Head: "b → e: ", Text: "yes"})
			say(t, w.Terminal, " ")
			say(t, w.Terminal, "  Yes. He")
			w.Note(terminal.Line{Head: "c: ", Text: "oh"})
			say(t, w.Terminal, " does.")
			w.After(terminal.Line{Text: "e writes"})
			w.End("")
		}, `
e: I ask Bob.
b → e: yes
c: oh
e: Yes. He does.
e writes
> x|`},
		{"it is cut where it would go on", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			say(t, w.Terminal, "I ask Bob.")
			w.After(terminal.Line{Head: "e → b: ", Text: "hi"})
			w.Wait("b thinks")
			sees(t, w, "e: I ask Bob.\ne → b: hi\nb thinks …\n> x|")
			w.End(" [cut off]")
			w.Begin("b")
			say(t, w.Terminal, "well")
		}, `
e: I ask Bob.
e → b: hi
e: [cut off]
b: well
> x|`},
		{"it waits for something to its end", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			say(t, w.Terminal, "I ask Bob.")
			w.Wait("bob thinks")
			w.End("")
		}, `
e: I ask Bob.
> x|`},
		{"it waits for something to its end, without a word", func(t *testing.T, w window) {
			w.Prompt("x", 1)
			w.Begin("e")
			w.Wait("bob thinks")
			sees(t, w, "bob thinks …\n> x|")
			w.End(" [cut]")
		}, "\n> x|"},
		{"lines and paragraphs", func(t *testing.T, w window) {
			w.Begin("e")
			say(t, w.Terminal, "\n\none\ntwo\n")
			say(t, w.Terminal, "\n\n\nthree\n\n")
			w.End("")
			w.Prompt("", 0)
		}, `
e: one
  two

  three
> |`},
		{"two replies", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("e")
			say(t, w.Terminal, "one")
			w.End("")
			w.Begin("f")
			say(t, w.Terminal, "two")
		}, `
e: one
f: two
> |`},
		{"a cut, and what cut it", func(t *testing.T, w window) {
			w.Prompt("wait", 4)
			w.Begin("e")
			say(t, w.Terminal, "The tides")
			w.Prompt("", 0)
			w.Echo("wait")
			w.End(" [cut]")
			w.Begin("e")
			say(t, w.Terminal, "Yes?")
		}, `
e: The tides [cut]
> wait
e: Yes?
> |`},
		{"what was typed waits below the reply", func(t *testing.T, w window) {
			w.Begin("e")
			say(t, w.Terminal, "The")
			w.Echo("/who")
			w.Prompt("", 0)
			say(t, w.Terminal, " tides")
		}, `
e: The tides
> /who
> |`},
		{"nothing seen, nothing cut", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("e")
			w.End(" [cut]")
			w.Begin("f")
			say(t, w.Terminal, "x")
		}, `
f: x
> |`},
		{"somebody else writes", func(t *testing.T, w window) {
			w.Prompt("I", 1)
			w.Begin("e")
			say(t, w.Terminal, "The tides are the")
			w.Note(terminal.Line{Head: "bob: ", Text: "hello everybody in here"})
			say(t, w.Terminal, " sea")
		}, `
bob: hello everybody
  in here
e: The tides are the
  sea
> I|`},
		{"a long prompt", func(t *testing.T, w window) {
			w.Prompt("0123456789012345678901234", 18)
		}, `
> 012345678901234567
  |8901234`},
		{"a prompt of lines", func(t *testing.T, w window) { w.Prompt("one\ntwo", 3) }, `
> one|
  two`},
		{"a full row has a place for the cursor", func(t *testing.T, w window) {
			w.Prompt("012345678901234567", 18)
		}, `
> 012345678901234567
  |`},
		{"a prompt higher than the screen", func(t *testing.T, w window) {
			w.Prompt(strings.Repeat("x\n", 50)+"end", 103)
		}, `
  x
  x
  x
  x
  x
  end|`},
		{"hostile", func(t *testing.T, w window) {
			w.Prompt("\x1b[2J", 4)
			w.Begin("e\x1b]0;x\a")
			say(t, w.Terminal, "a\x1b[2Jb\rc\u202e")
			w.Note(terminal.Line{Head: "b\nc\x9b: ", Text: "x\x1bc\u200b"})
		}, "\n" + `b c` + "\ufffd" + `: x␛c
e␛]0;x␇: a␛[2Jb␍c
> ␛[2J|`},
		{"emoji of several", func(t *testing.T, w window) {
			w.Note(terminal.Line{Head: "b: ", Text: "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 می\u200cخواهم"})
			w.Begin("e")
			for _, piece := range []string{"👩", "\u200d", "💻", " क\u094d", "\u200dष \u202eend\u200e"} {
				say(t, w.Terminal, piece)
			}
			w.Prompt("👩\u200d💻ab", len("👩\u200d💻a"))
		}, "\n" + `b: ` + "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦" + `
  ` + "می\u200cخواهم" + `
e: ` + "👩\u200d💻 क\u094d\u200dष end" + `
> ` + "👩\u200d💻" + `a|b`},
		{"emoji on a terminal that shows their parts", func(t *testing.T, w window) {
			w.Apart()
			w.Note(terminal.Line{Text: "before"})
			w.Prompt("👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻a", len("👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻"))
			w.Note(terminal.Line{Text: "after"})
		}, `
before
after
> ` + "👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻" + `
  ` + "👩\u200d💻" + `|a`},
		{"somebody says something", func(t *testing.T, w window) {
			w.Prompt("typed", 5)
			w.Note(terminal.Line{Text: "before"})
			w.Hear("mic", terminal.Line{Head: "ann: ", Text: "turn …"})
			w.Hear("call", terminal.Line{Head: "bob: ", Text: "\x1b[2Jwait …"})
			sees(t, w, "before\nann: turn …\nbob: ␛[2Jwait …\n> typed|")
			w.Hear("mic", terminal.Line{Head: "ann: ", Text: "turn the lights in the hall off, and those in the kitchen and in the garden too …"})
		}, `
before
ann: …
  kitchen and in the
  garden too …
bob: ␛[2Jwait …
> typed|`},
		{"what was being said is gone", func(t *testing.T, w window) {
			w.Prompt("typed", 5)
			w.Hear("mic", terminal.Line{Head: "ann: ", Text: "turn the lights in the hall off …"})
			w.Hear("call", terminal.Line{Head: "bob: ", Text: "wait …"})
			sees(t, w, "ann: turn the lights\n  in the hall off …\nbob: wait …\n> typed|")
			w.Note(terminal.Line{Head: "ann: ", Text: "turn the lights off"})
			w.Hear("mic", terminal.Line{})
			w.Hear("nobody", terminal.Line{})
		}, `
ann: turn the lights
  off
bob: wait …
> typed|`},
		{"it is said while a reply comes", func(t *testing.T, w window) {
			w.Prompt("", 0)
			w.Begin("e")
			say(t, w.Terminal, "The ti")
			w.Hear("mic", terminal.Line{Head: "ann: ", Text: "wait …"})
			sees(t, w, "e: The ti\nann: wait …\n> |")
			say(t, w.Terminal, "des")
			w.Hear("", terminal.Line{})
		}, `
e: The tides
> |`},
		{"a tab", func(t *testing.T, w window) {
			w.Begin("e")
			say(t, w.Terminal, "\tx")
		}, `
e:      x
|`},
		{"wiped", func(t *testing.T, w window) {
			w.Note(terminal.Line{Text: "old"})
			w.Begin("e")
			say(t, w.Terminal, "new")
			w.Prompt("x", 1)
			w.Wipe()
		}, `
e: new
> x|`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 20, 8)
			tt.do(t, w)
			sees(t, w, tt.want)
		})
	}
}

// TestScrolling: text that has scrolled off the screen is complete, and every word is there once.
func TestScrolling(t *testing.T) {
	w := terminaltest.Open(t, 20, 5)
	w.Prompt("typing", 6)
	w.Begin("e")
	var want strings.Builder
	for i := range 60 {
		word := strings.Repeat(string(rune('a'+i%26)), 1+i%9) + " "
		want.WriteString(word)
		say(t, w.Terminal, word)
	}
	w.End("")
	testkit.Await(t, patience, "the reply", func() bool {
		return strings.Join(strings.Fields(w.All()), " ") == "e: "+want.String()+"> typing"
	})
}

func TestResize(t *testing.T) {
	w := terminaltest.Open(t, 20, 8)
	w.Begin("e")
	say(t, w.Terminal, "The tides")
	w.Prompt("is it so", 8)
	sees(t, w, "e: The tides\n> is it so|")
	resize(t, w, 40)
	sees(t, w, "e: The tides\n> is it so|")
	say(t, w.Terminal, " are the sea's answer to the moon")
	sees(t, w, "e: The tides are the sea's answer to the\n  moon\n> is it so|")
	resize(t, w, 10)
	sees(t, w, "e: The tid\nes are the\n sea's ans\nwer to the\n  moon\n> is it so\n  |")
	say(t, w.Terminal, " and")
	sees(t, w, "e: The tid\nes are the\n sea's ans\nwer to the\n  moon and\n> is it so\n  |")
}

// TestResizeWhileWaiting: the sign of a coming reply disappears completely, even after the window
// was too narrow for it.
func TestResizeWhileWaiting(t *testing.T) {
	w := terminaltest.Open(t, 20, 8)
	w.Prompt("is it so", 8)
	w.Note(terminal.Line{Text: "before"})
	w.Begin("somebody")
	sees(t, w, "before\nsomebody: …\n> is it so|")
	resize(t, w, 8)
	sees(t, w, "before\nsome…: …\n> is it\n  so|")
	resize(t, w, 20)
	sees(t, w, "before\nsomebody: …\n> is it so|")
	w.End("")
	sees(t, w, "before\n> is it so|")
}

// resize changes the width, and returns when earshot has noticed.
func resize(t *testing.T, w *terminaltest.Window, width int) {
	t.Helper()
	before := len(w.Raw())
	w.Resize(width, 8)
	syscall.Kill(syscall.Getpid(), syscall.SIGWINCH)
	testkit.Await(t, patience, "the prompt again", func() bool { return strings.HasSuffix(w.Raw()[before:], "\x1b[?25h") })
}

func TestKeys(t *testing.T) {
	w := terminaltest.Open(t, 20, 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Type("hé\x1b[A\x03\x1b[200~a\rb\x1b[201~\x1b")
	var keys []terminal.Key
	for k, err := range w.Keys(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if keys = append(keys, k); k.Does == terminal.Escape { // an Escape alone is known only by time
			cancel()
		}
	}
	if got, want := merged(keys), `"hé", up, interrupt, paste "a\nb", escape`; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

// TestGivenBack: after Close the terminal is as before, even if it has stopped taking output.
func TestGivenBack(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w := terminaltest.Open(t, 20, 8)
		if stopped {
			w.Stop()
			flood(t, w.Terminal)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		state, err := term.GetState(int(w.Slave.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := term.MakeRaw(int(w.Slave.Fd())); err != nil {
			t.Fatal(err)
		}
		raw, err := term.GetState(int(w.Slave.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if *state == *raw {
			t.Errorf("stopped %v: the terminal was left raw", stopped)
		}
		if _, err := w.Print(nil, "late"); !errors.Is(err, terminal.ErrClosed) {
			t.Errorf("stopped %v: printing after the end: %v", stopped, err)
		}
	}
}

// flood prints until the terminal takes no more, and returns what it took.
func flood(t *testing.T, w *terminal.Terminal) string {
	t.Helper()
	var took strings.Builder
	text := strings.Repeat("0123456789", 100)
	for {
		stop := make(chan struct{})
		timer := time.AfterFunc(300*time.Millisecond, func() { close(stop) })
		n, err := w.Print(stop, text)
		timer.Stop()
		if err != nil {
			t.Fatal(err)
		}
		took.WriteString(text[:n])
		if n < len(text) {
			return took.String()
		}
	}
}

// TestStoppedTerminal: a terminal that takes no output holds up neither a cut nor typing.
// Afterwards it shows everything that Print reported as taken.
func TestStoppedTerminal(t *testing.T) {
	w := terminaltest.Open(t, 80, 24)
	w.Prompt("", 0)
	w.Begin("e")
	w.Stop()
	took := flood(t, w.Terminal)
	for i := range 400 {
		w.Prompt("typing", 6)
		w.Echo("echo")
		w.Note(terminal.Line{Text: "note"})
		w.Begin("x")
		stop := make(chan struct{})
		if i%2 == 0 {
			close(stop)
			if n, err := w.Print(stop, "never"); n != 0 || err != nil {
				t.Fatalf("printed %d bytes on a terminal that takes nothing: %v", n, err)
			}
		}
		w.End(" [cut]")
	}
	w.Go()
	w.End("")
	testkit.Await(t, patience, "how much was dropped", func() bool { return strings.Contains(w.All(), "too slow)") })
	w.Note(terminal.Line{Text: "the last"})
	testkit.Await(t, patience, "the last line", func() bool { return strings.Contains(w.All(), "the last") })
	shown := 0
	for row := range strings.Lines(w.All()) {
		if !strings.Contains(row, "too slow") {
			shown += strings.Count(row, "0") + strings.Count(row, "1") // two of ten digits
		}
	}
	if want := strings.Count(took, "0") + strings.Count(took, "1"); shown < want || shown > want+1 {
		t.Errorf("%d digits are shown, %d were said to be", shown, want)
	}
	if strings.Contains(w.All(), "never") {
		t.Error("what was stopped before it began is shown")
	}
}

func TestDumb(t *testing.T) {
	t.Setenv("TERM", "dumb")
	w := terminaltest.Open(t, 80, 24)
	if w.ByKeys() || w.Piped() {
		t.Fatal("a dumb terminal is read by lines")
	}
	w.Begin("waits in vain")
	w.Note(terminal.Line{Text: "seen"})
	testkit.Await(t, patience, "the note", func() bool { return w.Raw() == "seen\r\n" })
	w.End(" [cut]")
	w.Begin("e")
	say(t, w.Terminal, "The tides")
	w.Note(terminal.Line{Head: "bob: ", Text: "hi\x1b[2J"})
	say(t, w.Terminal, " turn")
	w.End(" [cut]")
	testkit.Await(t, patience, "the lines", func() bool {
		return w.Raw() == "seen\r\ne: The tides\r\nbob: hi␛[2J\r\n   turn [cut]\r\n"
	})
	w.Begin("e")
	say(t, w.Terminal, "one\n\ntwo\n")
	say(t, w.Terminal, "eve: three")
	w.End("")
	testkit.Await(t, patience, "the rows", func() bool { return strings.HasSuffix(w.Raw(), "\r\ne: one\r\n\r\n  two\r\n  eve: three\r\n") })
}

func TestNoColour(t *testing.T) {
	for _, no := range []string{"", "1"} {
		t.Setenv("NO_COLOR", no)
		w := terminaltest.Open(t, 80, 24)
		w.Begin("e")
		testkit.Await(t, patience, "the sign", func() bool { return strings.Contains(w.Screen(), "e: …") })
		say(t, w.Terminal, "x")
		testkit.Await(t, patience, "the reply", func() bool { return strings.Contains(w.Screen(), "e: x") })
		for _, style := range []string{"\x1b[1m", "\x1b[2m"} {
			if got := strings.Contains(w.Raw(), style); got == (no != "") {
				t.Errorf("with NO_COLOR=%q, %q is used: %v", no, style, got)
			}
		}
	}
}
