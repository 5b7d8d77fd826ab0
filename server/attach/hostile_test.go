package attach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/attach"
	"earshot/server/wire"
)

// TestHostileTerminal: whatever a terminal sends, only its own connection ends. Its speech ends
// where it was truly heard, and the room is left in order.
func TestHostileTerminal(t *testing.T) {
	const hello = `{"hello":{}}` + "\n"
	said := `{"heard":{"turn":"1","clause":0,"byte":2}}` + "\n"
	for _, tt := range []struct {
		name, sends string
		heard       int // bytes that count as heard
		left        bool
	}{
		{"nothing and leaves", hello, 0, true},
		{"half a frame", hello + `{"beat":`, 0, false},
		{"garbage", hello + "\x00\xff\x1b[2J\n", 0, false},
		{"not JSON", hello + "GET / HTTP/1.1\r\n", 0, false},
		{"an array", hello + "[]\n", 0, false},
		{"null", hello + "null\n", 0, false},
		{"a null frame", hello + `{"heard":null}` + "\n", 0, false},
		{"an empty object", hello + "{}\n", 0, false},
		{"two frames in one", hello + `{"beat":{},"hello":{}}` + "\n", 0, false},
		{"an unknown frame", hello + `{"shutdown":{}}` + "\n", 0, false},
		{"a frame of the daemon", hello + `{"ack":{"n":1}}` + "\n", 0, false},
		{"hello twice", hello + hello, 0, false},
		{"an event of no kind", hello + `{"event":{"kind":"x","body":{}}}` + "\n", 0, false},
		{"a huge frame", hello + strings.Repeat("x", 3*wire.MaxUp), 0, false},
		{"deep nesting", hello + `{"event":` + strings.Repeat("[", 100_000) + "\n", 0, false},
		{"a flood of events", hello + strings.Repeat(`{"event":{"kind":"message","body":{"text":"flood"}}}`+"\n", 1000), 0, false},
		{"heard what was said", hello + said, 2, true},
		{"heard all", hello + `{"heard":{"turn":"1","clause":0,"byte":4,"end":true}}` + "\n", 4, true},
		{"heard of another turn", hello + `{"heard":{"turn":"2","clause":7,"byte":2}}` + "\n", 0, true},
		{"reported a part of a character as heard", hello + `{"heard":{"turn":"1","clause":0,"byte":3}}` + "\n", 0, false},
		{"heard too many bytes", hello + `{"heard":{"turn":"1","clause":0,"byte":5}}` + "\n", 0, false},
		{"heard too few bytes", hello + `{"heard":{"turn":"1","clause":0,"byte":-1}}` + "\n", 0, false},
		{"heard another clause", hello + `{"heard":{"turn":"1","clause":2,"byte":0}}` + "\n", 0, false},
		{"heard a clause before", hello + `{"heard":{"turn":"1","clause":-1,"byte":0}}` + "\n", 0, false},
		{"heard backwards", hello + said + `{"heard":{"turn":"1","clause":0,"byte":1}}` + "\n", 2, false},
		{"heard after the end", hello + `{"heard":{"turn":"1","end":true}}` + "\n" + said, 0, true},
		{"a number too big", hello + `{"heard":{"turn":"1","clause":1e99}}` + "\n", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				r := newRoom()
				block := make(chan struct{})
				if strings.HasPrefix(tt.name, "a flood") {
					r.refuse = func(_ context.Context, e earshot.Event) error {
						if e.Body.Kind() == earshot.KindMessage {
							<-block
						}
						return nil
					}
				}
				pr := &pair{room: r, daemons: make(chan error, 1)}
				pr.serve(t, near)
				go io.Copy(io.Discard, far)
				first, rest, _ := strings.Cut(tt.sends, "\n")
				_, _ = io.WriteString(far, first+"\n")
				tn, err := open(t.Context(), <-r.entered, "1")
				if err != nil {
					t.Fatal(err)
				}
				if err := tn.say("xyé"); err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(far, rest)
				synctest.Wait()
				far.Close()
				synctest.Wait()
				close(block)
				if err := <-pr.daemons; (err == nil) != tt.left {
					t.Errorf("the daemon's end ended with %v", err)
				}
				pr.stop()
				if n := len(tn.delivered()); tn.ends() != 1 || n != tt.heard || tn.faults() != nil {
					t.Errorf("%d ends, %d bytes heard, want %d; %v", tn.ends(), n, tt.heard, tn.faults())
				}
				if got := r.heard(); !strings.HasPrefix(got, "here=true") || !strings.HasSuffix(got, "here=false") {
					t.Errorf("the room heard %q", got)
				}
				if n := strings.Count(r.heard(), "flood"); n > wire.Unanswered {
					t.Errorf("%d events of the flood were taken", n)
				}
			})
		})
	}
}

// TestHostileFirstWord: a terminal that does not begin with a valid hello never enters the room.
func TestHostileFirstWord(t *testing.T) {
	for _, sends := range []string{"", "\n", "x\n", `{"beat":{}}` + "\n", `{"hello":{}}`, strings.Repeat("{", 2*wire.MaxUp)} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			pr := &pair{room: newRoom(), daemons: make(chan error, 1)}
			pr.serve(t, near)
			_, _ = io.WriteString(far, sends)
			far.Close()
			if err := <-pr.daemons; err == nil {
				t.Errorf("%.20q was taken for hello", sends)
			}
			pr.stop()
			if got := pr.room.heard(); got != "" || len(pr.room.entered) != 0 {
				t.Errorf("%.20q entered the room: %s", sends, got)
			}
		})
	}
}

// TestTerminalThatNeverReads: the session of a terminal that never reads ends after a while, and
// nobody waits for it meanwhile.
func TestTerminalThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		pr := &pair{room: newRoom(), daemons: make(chan error, 1)}
		pr.serve(t, near)
		_, _ = io.WriteString(far, `{"hello":{}}`+"\n")
		o := <-pr.room.entered
		tn, err := open(t.Context(), o, "1")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 10_000 {
			o.(earshot.Board).Show(earshot.Event{Sequence: int64(i), Body: earshot.Message{Text: "x"}})
			tn.Do(earshot.Control(i % 3))
		}
		_ = tn.say("x")
		if took := time.Since(began); took != 0 {
			t.Errorf("it held somebody for %v", took)
		}
		if err := <-pr.daemons; err == nil || time.Since(began) > 2*wire.Idle {
			t.Errorf("ended with %v after %v", err, time.Since(began))
		}
		if tn.ends() != 1 {
			t.Errorf("%d ends", tn.ends())
		}
		pr.stop()
		far.Close()
	})
}

// TestHostileDaemon: whatever the daemon sends, the terminal ends and reports that the connection
// was lost.
func TestHostileDaemon(t *testing.T) {
	for _, sends := range []string{
		"", "x\n", "null\n", `{"hello":{}}` + "\n", `{"ack":{"n":1}}` + "\n", `{"refused":{"n":1}}` + "\n",
		`{"heard":{"turn":"1"}}` + "\n", `{"show":{"id":"1"}}` + "\n", `{"show":{}}` + "\n", `{"show":{"event":null}}` + "\n", `{"show":{"event":{"kind":"message"},"names":7}}` + "\n", `{"say":`, strings.Repeat("x", 2*wire.MaxDown),
		`{"open":{"turn":"1"}}` + "\n" + strings.Repeat(`{"say":{"turn":"1","clause":{"n":0,"text":"`+strings.Repeat("x", 1<<20)+`"}}}`+"\n", 10),
		`{"open":{"turn":"1"}}` + "\n" + `{"do":{"turn":"1","control":99}}` + "\n" + `{"finish":{"turn":"2"}}` + "\n",
		strings.Repeat(`{"open":{"turn":"1"}}`+"\n", 100),
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- attach.Run(t.Context(), wire.NewConn(far, far, wire.MaxDown), sense(idle), &testkit.Voice{Every: time.Hour}, new(attach.Names))
			}()
			go io.Copy(io.Discard, near)
			_, _ = io.WriteString(near, sends)
			synctest.Wait()
			near.Close()
			if err := <-done; !errors.Is(err, attach.ErrLost) {
				t.Errorf("%.40q: ended with %v", sends, err)
			}
		})
	}
}
