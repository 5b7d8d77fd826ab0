package remote_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/participants"
	"earshot/server/remote"
	"earshot/server/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A room admits every message but "bad", and sends its outlets to the test.
type room struct {
	outlet chan earshot.Outlet
	heard  *heard // nil records nothing
}

// A heard records what a room was told, a few words each.
type heard struct {
	mu    sync.Mutex
	words []string
	who   earshot.ParticipantID // the person at the terminal
}

func (h *heard) add(format string, args ...any) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.words = append(h.words, fmt.Sprintf(format, args...))
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.words, ", ")
}

// become puts somebody else at the terminal.
func (h *heard) become(who earshot.ParticipantID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.who = who
}

// handle returns the handle of the person at the terminal.
func (h *heard) handle() earshot.Handle {
	if h == nil {
		return earshot.Handle{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return earshot.Handle{Provider: "console", ID: "uid7/" + string(h.who)}
}

func (r room) Admit(_ context.Context, e earshot.Event) error {
	switch b := e.Body.(type) {
	case earshot.Presence:
		r.heard.add("%s %s here=%v", e.Room, e.From.ID, b.Here)
	case earshot.Message:
		r.heard.add("%s %s says %s", e.Room, e.From.ID, string(b.Text))
	}
	m, _ := e.Body.(earshot.Message)
	switch m.Text {
	case "bad":
		return &wire.Refusal{Problem: "the disk is full", Mend: "make room"}
	case "moved":
		time.Sleep(time.Second) // more has come meanwhile
		return wire.ErrMoved
	}
	return nil
}

func (r room) Join(s participants.Session, o earshot.Outlet, _ earshot.Audience) (func() earshot.Handle, func()) {
	r.heard.add("%s joined", s.Outlet)
	r.heard.add("%s entered %s", o.Name(), s.Room)
	r.outlet <- o
	return r.heard.handle, func() {
		r.heard.add("%s out of %s", o.Name(), s.Room)
		r.heard.add("%s left", s.Outlet)
	}
}

func nameOf(id earshot.ParticipantID) string { return "the one called " + string(id) }

// A wiretap is the client's end of a terminal, line by line.
type wiretap struct {
	t    *testing.T
	conn net.Conn
	got  chan string
}

// tap serves a terminal until the end of the test.
func tap(t *testing.T, r room) *wiretap {
	near, far := net.Pipe()
	w := &wiretap{t, far, make(chan string, 100)}
	done := make(chan error, 1)
	term := &remote.Terminal{Session: participants.Session{ID: "s", Outlet: "terminal-1"}, Backend: r, Name: nameOf}
	go func() { done <- term.Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
	go func() {
		defer close(w.got)
		for lines := bufio.NewScanner(far); lines.Scan(); {
			w.got <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		far.Close()
		if err := <-done; err != nil {
			t.Errorf("the session ended with %v", err)
		}
	})
	return w
}

func (w *wiretap) send(lines ...string) {
	for _, l := range lines {
		if _, err := io.WriteString(w.conn, l+"\n"); err != nil {
			w.t.Error(err)
		}
	}
}

// want checks the lines that the daemon has sent since the last call.
func (w *wiretap) want(lines ...string) {
	w.t.Helper()
	synctest.Wait()
	var got []string
	for len(w.got) > 0 {
		got = append(got, <-w.got)
	}
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		w.t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// TestProtocol shows the protocol as it is on the wire, for authors of other terminals.
func TestProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room{outlet: make(chan earshot.Outlet, 1)}
		w := tap(t, r)
		w.want()
		w.send(`{"hello":{"flows":true}}`)
		w.want(`{"welcome":{"outlet":"terminal-1"}}`)

		w.send(`{"event":{"kind":"typing","body":{"began":true}}}`,
			`{"event":{"kind":"message","body":{"text":"bad"}}}`,
			`{"event":{"id":"01J00000000000000000000001","at":"2026-02-03T04:05:06Z","kind":"message","body":{"text":"hello"}}}`)
		w.want(`{"ack":{"n":1}}`, `{"refused":{"n":2,"error":"the disk is full","cure":"make room"}}`, `{"ack":{"n":3}}`)

		o := <-r.outlet
		o.(earshot.ReceiptHolder).KeepReceipt([]byte("one")) // it did not say that it keeps receipts
		w.want()
		var heard []earshot.Heard
		s, err := o.Open(t.Context(), earshot.Opening{Turn: "7", About: "3", Name: "Earshot"}, func(h earshot.Heard) { heard = append(heard, h) })
		if err != nil {
			t.Fatal(err)
		}
		w.want(`{"open":{"turn":"7","about":"3","name":"Earshot"}}`)
		for i, text := range []earshot.Text{"Hello ", "there."} {
			if err := s.Say(earshot.Clause{N: i, Text: text}); err != nil {
				t.Error(err)
			}
		}
		w.want(`{"say":{"turn":"7","clause":{"n":0,"text":"Hello "}}}`, `{"say":{"turn":"7","clause":{"n":1,"text":"there."}}}`)
		s.Do(earshot.Pause)
		s.Finish()
		w.want(`{"do":{"turn":"7","control":2}}`, `{"finish":{"turn":"7"}}`)
		w.send(`{"heard":{"turn":"7","clause":0,"byte":5}}`, `{"heard":{"turn":"7","clause":1,"byte":6,"end":true}}`)
		synctest.Wait()
		if len(heard) != 2 || heard[0] != (earshot.Heard{Byte: 5}) || heard[1] != (earshot.Heard{Clause: 1, Byte: 6, End: true}) {
			t.Errorf("heard %v", heard)
		}

		o.(earshot.Board).Show(earshot.Event{ID: "9", Body: earshot.Notice{Key: "llm", Text: "gone"}})
		w.want(`{"show":{"event":{"id":"9","at":"0001-01-01T00:00:00Z","room":"","from":{"provider":"","id":""},"visibility":{"scope":""},"kind":"notice","body":{"key":"llm","text":"gone"}}}}`)
		time.Sleep(wire.Every)
		w.want(`{"beat":{}}`)
	})
}

// TestSayRefuses: an invalid clause is refused with an error to the room, and is not sent.
func TestSayRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room{outlet: make(chan earshot.Outlet, 1)}
		w := tap(t, r)
		w.send(`{"hello":{}}`)
		s, err := (<-r.outlet).Open(t.Context(), earshot.Opening{Turn: "7"}, func(earshot.Heard) {})
		if err != nil {
			t.Fatal(err)
		}
		w.want(`{"welcome":{"outlet":"terminal-1"}}`, `{"open":{"turn":"7","about":"","name":""}}`)
		for _, tt := range []struct {
			clause earshot.Clause
			want   string
		}{
			{earshot.Clause{N: 0, Text: "\xff"}, "clause 0 is not UTF-8"},
			{earshot.Clause{N: 1, Text: "x"}, "clause 1 was said in place of clause 0"},
			{earshot.Clause{N: 0, Text: earshot.Text(strings.Repeat("x", wire.MaxDown))}, "encoding a frame say: 8388655 bytes are too long"},
		} {
			if err := s.Say(tt.clause); err == nil || err.Error() != tt.want {
				t.Errorf("said with %v, want %s", err, tt.want)
			}
		}
		w.want()
	})
}

// TestControlsOvertakeOnTheWire: a terminal that reads late gets a control before clauses that were
// said earlier, and after a cut none of them.
func TestControlsOvertakeOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		control earshot.Control
		want    string
	}{
		{earshot.Pause, "open say(0) do(pause) say(1) say(2) finish"},
		{earshot.Cut, "open say(0) do(cut)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			r := room{outlet: make(chan earshot.Outlet, 1)}
			done := make(chan error, 1)
			go func() {
				done <- (&remote.Terminal{Session: participants.Session{Outlet: "terminal-1"}, Backend: r, Name: nameOf}).Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp))
			}()
			_, _ = io.WriteString(far, `{"hello":{}}`+"\n")
			c := wire.NewConn(far, far, wire.MaxDown)
			if _, err := c.Read(); err != nil { // welcome
				t.Fatal(err)
			}
			s, err := (<-r.outlet).Open(t.Context(), earshot.Opening{Turn: "7"}, func(earshot.Heard) {})
			if err != nil {
				t.Fatal(err)
			}
			got := []string{word(c)}
			for n := range 3 {
				if err := s.Say(earshot.Clause{N: n, Text: "x"}); err != nil {
					t.Error(err)
				}
				synctest.Wait() // while the first one is being written
			}
			s.Finish()
			s.Do(earshot.Resume) // replaced before it is sent
			s.Do(tt.control)
			for len(got) < len(strings.Fields(tt.want)) {
				got = append(got, word(c))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("sent %q, want %q", strings.Join(got, " "), tt.want)
			}
			if last := word(c); last != "beat" {
				t.Errorf("sent %q after all", last)
			}
			far.Close()
			<-done
		})
	}
}

// TestSlowTerminalIsShownTheNewestWords: a terminal that reads late gets only the newest words of
// each person who is speaking, and misses nothing else for it.
func TestSlowTerminalIsShownTheNewestWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		r := room{outlet: make(chan earshot.Outlet, 1)}
		done := make(chan error, 1)
		dropped := 0
		go func() {
			term := &remote.Terminal{Session: participants.Session{Outlet: "terminal-1"}, Backend: r, Name: nameOf, Dropped: func(n int) { dropped += n }}
			done <- term.Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp))
		}()
		_, _ = io.WriteString(far, `{"hello":{}}`+"\n")
		c := wire.NewConn(far, far, wire.MaxDown)
		if _, err := c.Read(); err != nil { // welcome
			t.Fatal(err)
		}
		o := (<-r.outlet).(earshot.Board)
		words := func(who, text string) earshot.Event {
			return earshot.Event{From: earshot.Handle{Provider: "voice", ID: who}, Body: earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(text)}}
		}
		o.Show(words("ann", "on its way"))
		synctest.Wait()
		for i := range 1000 {
			o.Show(words("ann", strings.Repeat("a", i)))
			o.Show(words("bob", strings.Repeat("b", i)))
		}
		o.Show(earshot.Event{Body: earshot.Message{Text: "kept"}})
		over := words("bob", "")
		over.Body = earshot.Speech{Stage: earshot.VoiceOver}
		o.Show(over)
		var got []string
		for range 4 {
			f, err := c.Read()
			show, ok := f.(wire.Show)
			if !ok {
				t.Fatalf("sent %T, %v", f, err)
			}
			switch b := show.Event.Body.(type) {
			case earshot.Speech:
				got = append(got, fmt.Sprintf("%s %s %d", show.Event.From.ID, b.Stage, len(b.Words)))
			case earshot.Message:
				got = append(got, string(b.Text))
			}
		}
		if want := "ann words 10, ann words 999, kept, bob over 0"; strings.Join(got, ", ") != want {
			t.Errorf("sent %s, want %s", strings.Join(got, ", "), want)
		}
		if dropped != 0 {
			t.Errorf("%d are said to be missed", dropped)
		}
		far.Close()
		<-done
	})
}

// word reads a frame and describes it in a word.
func word(c *wire.Conn) string {
	f, err := c.Read()
	switch f := f.(type) {
	case wire.Open:
		return "open"
	case wire.Say:
		return fmt.Sprintf("say(%d)", f.Clause.N)
	case wire.Do:
		return fmt.Sprintf("do(%v)", f.Control)
	case wire.Finish:
		return "finish"
	case wire.Beat:
		return "beat"
	}
	return fmt.Sprint(err)
}

// TestRoomMoves: when the room has moved, the terminal sends again what was not acknowledged. What came after it is
// not admitted before it, not even if the room is here again.
func TestRoomMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		r := room{make(chan earshot.Outlet, 1), new(heard)}
		term := &remote.Terminal{Session: participants.Session{ID: "s", Outlet: "terminal-1"}, Backend: r, Name: nameOf}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = term.Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) // it ends the connection
		}()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		if _, err := io.WriteString(far, `{"hello":{}}`+"\n"+messageLine("moved")+"\n"+messageLine("after")+"\n"); err != nil {
			t.Fatal(err)
		}
		<-done
		if got := r.heard.String(); !strings.Contains(got, "says moved") || strings.Contains(got, "says after") {
			t.Errorf("it was told %s", got)
		}
	})
}

// messageLine is the frame of a message.
func messageLine(text string) string {
	return fmt.Sprintf(`{"event":{"at":"2026-02-03T04:05:06Z","kind":"message","body":{"text":%q}}}`, text)
}
