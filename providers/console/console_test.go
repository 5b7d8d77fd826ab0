package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
	"earshot/providers"
	"earshot/providers/console"
	"earshot/providers/providertest"
)

func TestMain(m *testing.M) {
	os.Setenv("TERM", "xterm") // independent of the terminal of the test machine
	goleak.VerifyTestMain(m)
}

const patience = 30 * time.Second // nothing here takes this long

// A room takes events and notes them; story tells them in short.
type room struct {
	mu     sync.Mutex
	events []earshot.Event
	fail   error         // what emit returns
	busy   chan struct{} // if not nil, the room takes nothing until this is closed
	on     func(earshot.Event)
}

func (r *room) emit(ctx context.Context, e earshot.Event) error {
	if r.busy != nil {
		select {
		case <-r.busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	err := r.fail
	if err == nil {
		r.events = append(r.events, e)
	}
	r.mu.Unlock()
	if err == nil && r.on != nil {
		r.on(e)
	}
	return err
}

func (r *room) set(fail error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = fail
}

func (r *room) story() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var words []string
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case earshot.Message:
			words = append(words, fmt.Sprintf("%q", string(b.Text)))
		case earshot.Typing:
			words = append(words, map[bool]string{true: "types", false: "stops typing"}[b.Began])
		case earshot.Command:
			words = append(words, strings.TrimSpace("/"+b.Name+" "+string(b.Args)))
		}
	}
	return strings.Join(words, ", ")
}

var me = earshot.Handle{Provider: "console", ID: "uid1000"}

func newConsole(t *terminal.Terminal) *console.Console { return knowing(t, nil) }

// knowing returns a console that gets commands, names and sent lines from known.
func knowing(t *terminal.Terminal, known console.Known) *console.Console {
	n := 0
	return console.New(console.Config{Known: known, Handle: me, Via: "console", NewID: func() earshot.EventID {
		n++
		return earshot.EventID(fmt.Sprint(n))
	}}, t)
}

// start runs a console, and returns a function that stops it and one that waits for its end.
func start(t *testing.T, w *terminal.Terminal, r *room) (cancel func(), wait func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { ended <- newConsole(w).Run(ctx, r.emit) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	return cancel, func() error {
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			t.Fatal("the console does not end")
			return nil
		}
	}
}

func TestTyping(t *testing.T) {
	for _, tt := range []struct{ name, keys, want string }{
		{"a message", "hi\r", `types, "hi"`},
		{"emptied", "hi\x7f\x7f", `types, stops typing`},
		{"emptied by ^C", "hi\x03", `types, stops typing`},
		{"emptied by ^U, and again", "hi\x15x", `types, stops typing, types`},
		{"nothing", "\r  \r", `types, stops typing`},
		{"a command is no talk", "/why now \r", `/why now`},
		{"one that says something", "/msg bob hi\r", `types, /msg bob hi, stops typing`},
		{"one that will not", "/msg\x7f\x7fute\r", `types, stops typing, /mute`},
		{"a message that becomes a command", "why\x01/\r", `types, stops typing, /why`},
		{"and a command that becomes a message", "/why\x01so \r", `types, "so /why"`},
		{"a slash", "//path/to\r", `types, "/path/to"`},
		{"no command", "/ x\r\x15ok\r", `types, "ok"`},
		{"a paste of lines is one", "\x1b[200~one\rtwo\x1b[201~\r", `types, "one\ntwo"`},
		{"from the history", "one\r\x1b[A!\r", `types, "one", types, "one!"`},
		{"leaving", "/exit\r", ``},
		{"leaving with a line before it", "one\r/quit\r", `types, "one"`},
		{"^D in a line is not leaving", "ab\x01\x04\r\x04", `types, "b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 80, 10)
			var r room
			_, wait := start(t, w.Terminal, &r)
			w.Type(tt.keys)
			if !strings.Contains(tt.name, "leaving") {
				testkit.Await(t, patience, tt.want+", not "+r.story(), func() bool { return r.story() == tt.want })
				w.Type("\x15\x04")
			}
			if err := wait(); err != nil {
				t.Errorf("ended with %v", err)
			}
			if got := strings.TrimSuffix(r.story(), ", stops typing"); got != strings.TrimSuffix(tt.want, ", stops typing") {
				t.Errorf("the room saw %s, want %s", got, tt.want)
			}
			for _, e := range r.events {
				if e.ID == "" || e.From != me || e.Via != "console" || e.At.IsZero() {
					t.Errorf("an event lacks something: %+v", e)
				}
			}
		})
	}
}

func TestPictures(t *testing.T) {
	w := terminaltest.Open(t, 60, 10)
	var r room
	start(t, w.Terminal, &r)
	sees := func(want string) {
		t.Helper()
		testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
	}
	sees("> |")
	w.Type("hi\x1b[31m")
	sees("> hi|")
	w.Type("\r")
	sees("> hi\n> |")
	w.Type("\x1b[200~\x1b[2J\u202e\x1b[201~")
	sees("> hi\n> ␛[2J|")
	w.Type("\r")
	sees("> hi\n> ␛[2J\n> |")
	w.Type("\x0c")
	sees("> |")
}

// TestInterrupt: ^C empties the line; on an empty line it stops the reply; with no reply it says
// how to leave; and once more it leaves.
func TestInterrupt(t *testing.T) {
	w := terminaltest.Open(t, 60, 10)
	var r room
	_, wait := start(t, w.Terminal, &r)
	story := func(want string) {
		t.Helper()
		testkit.Await(t, patience, want+", not "+r.story(), func() bool { return r.story() == want })
	}
	w.Begin("earshot")
	w.Type("x\x03")
	story("types, stops typing")
	w.Type("\x03")
	story("types, stops typing, /stop")
	w.End("")
	w.Type("hm\r")
	story(`types, stops typing, /stop, types, "hm"`)
	w.Type("\x03") // the reply has not begun yet
	story(`types, stops typing, /stop, types, "hm", /stop`)
	w.Type("\x03")
	testkit.Await(t, patience, "the hint", func() bool { return strings.Contains(w.Screen(), "to leave)") })
	w.Type("\x03")
	if err := wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestDiskFull: the console says why the room did not take a message, and puts the text back into
// the line.
func TestDiskFull(t *testing.T) {
	w := terminaltest.Open(t, 80, 10)
	r := room{fail: errors.New("no space left on device")}
	start(t, w.Terminal, &r)
	w.Type("precious\r")
	testkit.Await(t, patience, "why it was not sent, and the line", func() bool { // the line alone proves nothing: it is also there before it is sent
		is := w.Screen()
		return strings.Contains(is, "! not sent (still in your input line): no space left on device") && strings.HasSuffix(is, "> precious|") && w.Bells() > 0
	})
	r.set(nil)
	w.Type("!\r")
	testkit.Await(t, patience, "the message", func() bool { return r.story() == `types, "precious!"` })
}

// TestSlowDisk: lines typed faster than the disk takes them wait, and none is refused. The console
// goes on taking keys meanwhile; afterwards everything arrives in order, each line as a message of
// its own.
func TestSlowDisk(t *testing.T) {
	w := terminaltest.Open(t, 80, 60)
	r := room{busy: make(chan struct{})}
	start(t, w.Terminal, &r)
	var want []string
	for i := range 40 {
		line := fmt.Sprintf("line %d", i)
		w.Type(line + "\r")
		testkit.Await(t, patience, "the echo of "+line, func() bool { return strings.HasSuffix(w.Screen(), "> "+line+"\n> |") })
		want = append(want, fmt.Sprintf("types, %q", line))
	}
	close(r.busy)
	testkit.Await(t, patience, "everything", func() bool { return r.story() == strings.Join(want, ", ") })
	if strings.Contains(w.All(), "!") || w.Bells() > 0 {
		t.Errorf("something was refused:\n%s", w.All())
	}
}

// TestFullQueue: if too much waits for the room, the console reads no keys until the room has taken
// some. What was typed meanwhile arrives, too.
func TestFullQueue(t *testing.T) {
	w := terminaltest.Open(t, 80, 10)
	r := room{busy: make(chan struct{})}
	start(t, w.Terminal, &r)
	var want []string
	for i := range 20 {
		name := fmt.Sprint("m", i, " ")
		w.Type("\x1b[200~" + name + strings.Repeat("x", earshot.MaxText-len(name)) + "\x1b[201~\r")
		want = append(want, name)
		if i == 15 {
			testkit.Await(t, patience, "sixteen echoes", func() bool { return strings.Count(w.All(), "> m") == 16 })
			close(r.busy)
		}
	}
	testkit.Await(t, patience, "everything", func() bool { return strings.Count(r.story(), `"m`) == len(want) })
	for i, part := range strings.Split(r.story(), `"m`)[1:] {
		if !strings.HasPrefix("m"+part, want[i]) {
			t.Errorf("message %d begins with %.10s, want %s", i, part, want[i])
		}
	}
}

// TestManyLinesAtOnce: lines that come faster than anybody types become one message, and none is
// lost, whether the terminal marks them as a paste or not.
func TestManyLinesAtOnce(t *testing.T) {
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf("this is line %d of them", i))
	}
	text := strings.Join(all, "\r")
	one := fmt.Sprintf("types, %q", strings.Join(all, "\n"))
	for _, tt := range []struct {
		name  string
		typed []string
		want  string
	}{
		{"a paste with marks", []string{"\x1b[200~" + text + "\r\x1b[201~\r"}, one},
		{"a paste without", []string{text + "\r"}, one},
		{"lines that end in two bytes", []string{strings.ReplaceAll(text, "\r", "\r\n") + "\r\n"}, one},
		{"tabs", []string{"if x {\r\tgo()\r}\r"}, `types, "if x {\n\tgo()\n}"`},
		{"without an end, and then Enter", []string{"one\rtwo", "\r"}, `types, "one\ntwo"`},
		{"a command before it", []string{"/mute\rone\rtwo\r"}, `/mute, types, "one\ntwo"`},
		{"a command behind it", []string{"one\rtwo\r/mute\r"}, `types, "one\ntwo", /mute`},
		{"a path in it", []string{"one\r/usr/bin\r"}, `types, "one\n/usr/bin"`},
		{"what is to be hidden", []string{"one\r/msg Ann the ring\rtwo\r"}, `types, "one", /msg Ann the ring, "two"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 80, 10)
			var r room
			start(t, w.Terminal, &r)
			for _, typed := range tt.typed {
				w.Type(typed)
			}
			testkit.Await(t, patience, "the message", func() bool { return r.story() == tt.want })
		})
	}
}

// TestTooManyLinesAtOnce: unmarked lines that are too long for one message are refused as a whole,
// and the next line typed is not joined to any of them.
func TestTooManyLinesAtOnce(t *testing.T) {
	w := terminaltest.Open(t, 80, 10)
	var r room
	start(t, w.Terminal, &r)
	w.Type(strings.Repeat(strings.Repeat("x", 99)+"\r", earshot.MaxText/100+1))
	testkit.Await(t, patience, "the refusal", func() bool {
		return strings.Contains(w.All(), "send them in parts") && strings.HasSuffix(w.Screen(), "> |")
	})
	w.Type("short\r")
	testkit.Await(t, patience, "the next message", func() bool { return strings.HasSuffix(r.story(), `"short"`) })
	if strings.Contains(r.story(), "x") {
		t.Errorf("the room saw %.200s", r.story())
	}
}

// TestNothingIsGlued: a refused line comes back into the input line. If a program types the next
// line all the same, that is not appended to it.
func TestNothingIsGlued(t *testing.T) {
	w := terminaltest.Open(t, 80, 30)
	r := room{fail: errors.New("no space left on device")}
	start(t, w.Terminal, &r)
	for i, line := range []string{"first", "second", "third"} {
		w.Type(line + "\r")
		testkit.Await(t, patience, line+" in the line", func() bool {
			return strings.Count(w.Screen(), "! not sent") == i+1 && strings.HasSuffix(w.Screen(), "> "+line+"|")
		})
	}
	r.set(nil)
	w.Type("fourth\r")
	testkit.Await(t, patience, "the last line alone", func() bool { return strings.HasSuffix(r.story(), `"fourth"`) })
}

func TestFullLine(t *testing.T) {
	w := terminaltest.Open(t, 200, 10)
	var r room
	start(t, w.Terminal, &r)
	w.Type("draft\x1b[200~" + strings.Repeat("x", earshot.MaxText) + "\x1b[201~")
	testkit.Await(t, patience, "the refusal", func() bool { return w.Bells() > 0 && strings.HasSuffix(w.Screen(), "> draft|") })
	w.Type("\r")
	testkit.Await(t, patience, "the message", func() bool { return r.story() == `types, "draft"` })
}

// TestStopsWhenToldTo: cancelling the context ends a console, whether it waits for keys or for the
// room.
func TestStopsWhenToldTo(t *testing.T) {
	for _, busy := range []bool{false, true} {
		w := terminaltest.Open(t, 80, 10)
		var r room
		if busy {
			r.busy = make(chan struct{})
		}
		cancel, wait := start(t, w.Terminal, &r)
		w.Type("x\r")
		testkit.Await(t, patience, "the message", func() bool { return strings.HasSuffix(w.Screen(), "> x\n> |") })
		w.Type("y")
		testkit.Await(t, patience, "the line", func() bool { return strings.HasSuffix(w.Screen(), "> y|") })
		cancel()
		if err := wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

// TestKeysAgain: a console that was stopped reads keys when it is run again; run with a context
// that is already cancelled, it reads none.
func TestKeysAgain(t *testing.T) {
	w := terminaltest.Open(t, 80, 10)
	c := newConsole(w.Terminal)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		r := room{on: func(e earshot.Event) {
			if e.Body.Kind() == earshot.KindMessage {
				cancel()
			}
		}}
		w.Type("x\r")
		if err := c.Run(ctx, r.emit); !errors.Is(err, context.Canceled) || r.story() != `types, "x"` {
			t.Errorf("the room saw %s, ended with %v", r.story(), err)
		}
		r = room{}
		if err := c.Run(ctx, r.emit); !errors.Is(err, context.Canceled) || r.story() != "" {
			t.Errorf("the room saw %s when it was over, ended with %v", r.story(), err)
		}
	}
}

// piped runs a console on input, and returns what it printed and the error that it ended with.
func piped(t *testing.T, input string, r *room, answer func(w *terminal.Terminal, e earshot.Event)) (out, errs string, err error) {
	t.Helper()
	var all, reading sync.WaitGroup
	pipe := func() (*os.File, *os.File) {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return from, to
	}
	in, feed := pipe()
	outFrom, outTo := pipe()
	errFrom, errTo := pipe()
	all.Go(func() { io.WriteString(feed, input); feed.Close() })
	reading.Go(func() { b, _ := io.ReadAll(outFrom); out = string(b) })
	reading.Go(func() { b, _ := io.ReadAll(errFrom); errs = string(b) })
	w, openErr := terminal.Open(in, outTo, errTo)
	if openErr != nil {
		t.Fatal(openErr)
	}
	r.on = func(e earshot.Event) { all.Go(func() { answer(w, e) }) }
	err = newConsole(w).Run(t.Context(), r.emit)
	testkit.Finish(t, 5*testkit.Patience, "the end of all lines", all.Wait)
	w.Close()
	for _, f := range []*os.File{in, outTo, errTo} {
		f.Close()
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of the terminal", reading.Wait)
	outFrom.Close()
	errFrom.Close()
	return out, errs, err
}

// echo answers by repeating the question.
func echo(w *terminal.Terminal, e earshot.Event) {
	w.Begin("earshot")
	text := "re: " + string(e.Body.(earshot.Message).Text)
	for text != "" {
		n, err := w.Print(nil, text)
		if err != nil {
			return
		}
		text = text[n:]
	}
	w.End("")
	w.Note(terminal.Line{Text: "noted"})
	w.Settle(e.ID)
}

// TestProvider feeds the console lines instead of keys, since the suite's simulated clock stands
// still while anything waits for a key. For keys see TestStopsWhenToldTo and TestKeysAgain.
func TestProvider(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providers.Provider { return newConsole(asking(t, "one\ntwo\n")) })
}

// asking returns a terminal that is a pipe with input in it; nobody reads the answers.
func asking(t *testing.T, input string) *terminal.Terminal {
	t.Helper()
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(feed, input)
	feed.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := terminal.Open(in, out, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		in.Close()
		out.Close()
	})
	return w
}

func TestPipe(t *testing.T) {
	long := strings.Repeat("x", earshot.MaxText)
	for _, tt := range []struct{ name, in, story, out, errs string }{
		{"questions", "one\ntwo\n", `"one", "two"`, "re: one\nre: two\n", "noted\nnoted\n"},
		{"nothing", "", "", "", ""},
		{"empty lines, and no end", "\n \none", `"one"`, "re: one\n", "noted\n"},
		{"lines from elsewhere", "one\r\ntwo\r\n", `"one", "two"`, "re: one\nre: two\n", "noted\nnoted\n"},
		{"two slashes are one", "//exit\n", `"/exit"`, "re: /exit\n", "noted\n"},
		{"binary", "\xff\x1b[2J\n", `"` + "\ufffd" + `\x1b[2J"`, "re: \ufffd␛[2J\n", "noted\n"},
		{"too long", "a\n" + long + "y\nb", `"a", "b"`, "re: a\nre: b\n", "noted\nline 2 is longer than 65536 bytes and was skipped\nnoted\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r room
			out, errs, err := piped(t, tt.in, &r, echo)
			if err != nil {
				t.Errorf("ended with %v", err)
			}
			if r.story() != tt.story || out != tt.out || errs != tt.errs {
				t.Errorf("asked %s\nprinted %q\nsaid %q", r.story(), out, errs)
			}
		})
	}
}

// TestPipeInTurn: in a pipe, the console does not ask the next question before the last one is
// answered.
func TestPipeInTurn(t *testing.T) {
	var r room
	var mu sync.Mutex
	open := 0
	out, _, err := piped(t, strings.Repeat("q\n", 50), &r, func(w *terminal.Terminal, e earshot.Event) {
		mu.Lock()
		open++
		if open != 1 {
			t.Errorf("%d questions are open", open)
		}
		mu.Unlock()
		w.Begin("earshot")
		w.Print(nil, "a")
		w.End("")
		mu.Lock()
		open--
		mu.Unlock()
		w.Settle(e.ID)
	})
	if err != nil || out != strings.Repeat("a\n", 50) {
		t.Errorf("printed %d bytes, ended with %v", len(out), err)
	}
}

// TestWhatWasToBeHidden: a hidden message is not made public by a slip: neither in a pipe, which
// takes no commands, nor by a space before the slash.
func TestWhatWasToBeHidden(t *testing.T) {
	for _, line := range []string{"/msg Ann the ring", " /MSG Ann the ring", "/offrecord", "/msg"} {
		var r room
		_, errs, err := piped(t, "one\n"+line+"\nthe ring\n", &r, echo)
		want := "noted\nline 2 and everything after it were not sent: /msg and /offrecord need a terminal: earshot chat\n"
		if r.story() != `"one"` || errs != want || err == nil {
			t.Errorf("%q: asked %s, said %q, ended with %v", line, r.story(), errs, err)
		}
	}
	w := terminaltest.Open(t, 60, 10)
	var r room
	_, wait := start(t, w.Terminal, &r)
	w.Type("  /msg Ann the ring\r \t/offrecord\r /message\r\x04")
	if err := wait(); err != nil {
		t.Error(err)
	}
	if got := r.story(); strings.Contains(got, "ring\"") || !strings.Contains(got, `/message`) || strings.Contains(got, `" /`) {
		t.Errorf("sent %s", got)
	}
}

// TestOrdersInAPipe: a line in a pipe that begins like a command is neither carried out nor sent as
// a message.
func TestOrdersInAPipe(t *testing.T) {
	var r room
	_, errs, err := piped(t, "one\n \ufeff/exit\n//exit\n", &r, echo)
	want := "noted\nline 2 was not sent: it begins with a slash like a command, and commands need a terminal: earshot chat. To send a text that begins with a slash, write //\nnoted\n"
	if r.story() != `"one", "/exit"` || errs != want || err == nil {
		t.Errorf("asked %s, said %q, ended with %v", r.story(), errs, err)
	}
}

func TestPipeNotSent(t *testing.T) {
	r := room{fail: errors.New("no space left on device")}
	_, errs, err := piped(t, "one\ntwo\n", &r, echo)
	if err == nil || errs != "line 1 was not sent: no space left on device\nline 2 was not sent: no space left on device\n" {
		t.Errorf("said %q, ended with %v", errs, err)
	}
}

// TestWhole: in Whole mode, all of the input becomes one message with its line breaks, or nothing
// is sent.
func TestWhole(t *testing.T) {
	for _, tt := range []struct{ name, in, story, fault string }{
		{"several lines", "one\n\n\ttwo\r\nthree\n\n", `"one\n\n\ttwo\nthree"`, ""},
		{"one line without an end", "one", `"one"`, ""},
		{"a slash", "/exit\n", "", "nothing was sent: it begins with a slash like a command, and commands need a terminal: earshot chat. To send a text that begins with a slash, write //"},
		{"two slashes", "//exit\n/x\n", `"/exit\n/x"`, ""},
		{"nothing", "\n \n", "", "nothing to say"},
		{"as much as fits", strings.Repeat("x\n", earshot.MaxText/2), fmt.Sprintf("%q", strings.Repeat("x\n", earshot.MaxText/2-1)+"x"), ""},
		{"too much", strings.Repeat("x\n", earshot.MaxText/2+1) + "y", "", "at most 65536 bytes; send it in parts"},
		{"a line that is too long", "a\n" + strings.Repeat("x", earshot.MaxText+9), "", "at most 65536 bytes; send it in parts"},
		{"what is to be hidden", "one\n /msg Ann the ring\n", "", "line 2 begins with /msg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, feed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var feeding sync.WaitGroup
			defer testkit.Finish(t, testkit.Patience, "who types to be rid of it", feeding.Wait)
			feeding.Go(func() { io.WriteString(feed, tt.in); feed.Close() })
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			w, err := terminal.Open(in, null, null)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			r := room{on: func(e earshot.Event) { w.Settle(e.ID) }}
			err = console.New(console.Config{Handle: me, NewID: func() earshot.EventID { return "1" }, Whole: true}, w).Run(t.Context(), r.emit)
			if r.story() != tt.story {
				t.Errorf("said %.200s, want %.200s", r.story(), tt.story)
			}
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("ended with %v, want %q", err, tt.fault)
			}
		})
	}
}

// TestManyLinesOnADumbTerminal: lines that come at once become one message on a dumb terminal, too,
// which reads lines instead of keys.
func TestManyLinesOnADumbTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	w := terminaltest.Open(t, 80, 10)
	var r room
	_, wait := start(t, w.Terminal, &r)
	w.Type("one\ntwo\n/mute\nthree\n")
	testkit.Await(t, patience, "the messages", func() bool { return r.story() == `"one\ntwo", /mute, "three"` })
	w.Type("four\n")
	testkit.Await(t, patience, "the next", func() bool { return strings.HasSuffix(r.story(), `, "four"`) })
	w.Type("five\n/exit\nsix\n")
	if err := wait(); err != nil || !strings.HasSuffix(r.story(), `"four", "five"`) {
		t.Errorf("the room saw %s, ended with %v", r.story(), err)
	}
}

// A known knows some words. It sends to asks for each question, and waits for answers before it
// replies.
type known struct {
	asks, answers chan struct{}
	sent          []string
	err           error
}

func (k known) Words(ctx context.Context) (commands, names []string, err error) {
	return []string{"mute", "who"}, []string{"Ann", "Bob"}, k.wait(ctx)
}

func (k known) Sent(ctx context.Context) ([]string, error) { return k.sent, k.wait(ctx) }

func (k known) wait(ctx context.Context) error {
	k.asks <- struct{}{}
	select {
	case <-k.answers:
		return k.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestTabAndSearch: Tab completes and ^R searches with what somebody else knows. An answer that
// comes late does not disturb somebody who types on, and the console does not wait for one that
// never comes.
func TestTabAndSearch(t *testing.T) {
	w := terminaltest.Open(t, 60, 10)
	var r room
	k := known{asks: make(chan struct{}, 9), answers: make(chan struct{}), sent: []string{"yesterday's tides", "the moon"}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- knowing(w.Terminal, k).Run(ctx, r.emit) }()
	sees := func(want string) {
		t.Helper()
		testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
	}
	asks := func(keys string) {
		t.Helper()
		w.Type(keys)
		select {
		case <-k.asks:
		case <-time.After(patience):
			t.Fatalf("%q asks for nothing", keys)
		}
	}
	asks("/mu\t")
	k.answers <- struct{}{}
	sees("> /mute |")
	asks("\x15@b\t")
	k.answers <- struct{}{}
	sees("> @Bob |")
	asks("\x15@a\t")
	w.Type("x") // before the answer
	sees("> @ax|")
	k.answers <- struct{}{}
	w.Type("y")
	sees("> @axy|")
	w.Type("\x15/note tea\r")
	testkit.Await(t, patience, "the command", func() bool { return strings.Contains(r.story(), "/note tea") })
	asks("\x12t")
	sees("> /note tea\n> (search: t) /no|te tea")
	w.Type("id")
	sees("> /note tea\n> (search: tid) |")
	k.answers <- struct{}{}
	sees("> /note tea\n> (search: tid) yesterday's |tides")
	w.Type("\r")
	testkit.Await(t, patience, "the message", func() bool { return strings.HasSuffix(r.story(), `"yesterday's tides"`) })
	asks("@a\t") // this time no answer comes
	sees("> /note tea\n> yesterday's tides\n> @a|")
	cancel()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}
