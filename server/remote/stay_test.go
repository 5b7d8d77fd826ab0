package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/server/remote"
	"earshot/server/wire"
)

// newRoom returns a room that records what it is told.
func newRoom() room {
	return room{outlet: make(chan earshot.Outlet, 1), heard: &heard{who: "ann"}}
}

// terminal returns a terminal in a room.
func terminal(r room) *remote.Terminal {
	return &remote.Terminal{Session: participants.Session{ID: "s", Room: "parlour", Outlet: "terminal-1"}, Backend: r, Name: nameOf}
}

const (
	came = "terminal-1 joined, terminal-1 entered parlour, parlour uid7/ann here=true"
	went = "parlour uid7/ann here=false, terminal-1 out of parlour, terminal-1 left"
)

// TestWhoPasses: a terminal that is there only for a moment causes no arrival or departure.
func TestWhoPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		r, done := newRoom(), make(chan error, 1)
		go func() { done <- terminal(r).Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
		go io.Copy(io.Discard, far)
		_, _ = io.WriteString(far, `{"hello":{"passes":true}}`+"\n"+`{"event":{"kind":"message","body":{"text":"hello"}}}`+"\n")
		synctest.Wait()
		far.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := "terminal-1 joined, terminal-1 entered parlour, parlour uid7/ann says hello, terminal-1 out of parlour, terminal-1 left"
		if got := r.heard.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestSomebodyElseIsHere: events come from the person who is at the terminal at the time, and so
// does the departure.
func TestSomebodyElseIsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		r, done := newRoom(), make(chan error, 1)
		go func() { done <- terminal(r).Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
		go io.Copy(io.Discard, far)
		say := `{"event":{"kind":"message","body":{"text":"hello"}}}` + "\n"
		_, _ = io.WriteString(far, `{"hello":{}}`+"\n"+say)
		synctest.Wait()
		r.heard.become("bob")
		_, _ = io.WriteString(far, say)
		synctest.Wait()
		far.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := came + ", parlour uid7/ann says hello, parlour uid7/bob says hello, parlour uid7/bob here=false, terminal-1 out of parlour, terminal-1 left"
		if got := r.heard.String(); got != want {
			t.Errorf("the room heard\n%s\nwant\n%s", got, want)
		}
	})
}

// errRevoked is the reason why somebody may not stay.
var errRevoked = &wire.Refusal{Problem: "the token was revoked", Mend: "ask for another"}

// TestMayNotStay: a terminal that may not stay is told why and ends within seconds, whether it
// sends something, sends nothing, or does not even read.
func TestMayNotStay(t *testing.T) {
	hello := `{"hello":{}}` + "\n"
	say := `{"event":{"kind":"message","body":{"text":"hello"}}}` + "\n"
	told := `{"ended":{"error":"the token was revoked","cure":"ask for another"}}`
	for _, tt := range []struct {
		name   string
		says   string // sent once the token is revoked
		reads  bool
		within time.Duration
	}{
		{"it says something", say, true, 0},
		{"it says much", say + say + say, true, 0},
		{"it is idle", "", true, remote.Look},
		{"it is frozen", "", false, remote.Look + 3*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				r, done := newRoom(), make(chan error, 1)
				var revoked atomic.Bool
				term := terminal(r)
				term.Stay = func(context.Context) error {
					if revoked.Load() {
						return errRevoked
					}
					return nil
				}
				go func() { done <- term.Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
				go func() { _, _ = io.WriteString(far, hello+say) }()
				var lines []string
				if tt.reads {
					go func() { lines = readLines(far) }()
				}
				synctest.Wait()
				time.Sleep(3*remote.Look + time.Second)
				revoked.Store(true)
				began := time.Now()
				_, _ = io.WriteString(far, tt.says)
				if err := <-done; err == nil || time.Since(began) > tt.within {
					t.Errorf("ended with %v after %v", err, time.Since(began))
				}
				far.Close()
				synctest.Wait()
				if tt.reads && (len(lines) == 0 || lines[len(lines)-1] != told) {
					t.Errorf("it was told %q", lines)
				}
				if got, want := r.heard.String(), came+", parlour uid7/ann says hello, "+went; got != want {
					t.Errorf("the room heard\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// readLines returns all lines up to the end of the connection.
func readLines(from net.Conn) (lines []string) {
	c := wire.NewConn(from, from, wire.MaxDown)
	for {
		f, err := c.Read()
		if err != nil {
			return lines
		}
		line, err := wire.Encode(f)
		if err != nil {
			return append(lines, err.Error())
		}
		lines = append(lines, string(line[:len(line)-1]))
	}
}

// TestStayIsNotAskedForEver: a Stay that has not answered when the terminal leaves does not hold up
// the session, and leaves nothing behind.
func TestStayIsNotAskedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		r, done := newRoom(), make(chan error, 1)
		term := terminal(r)
		term.Stay = func(ctx context.Context) error { // as on a disk that hangs
			<-ctx.Done()
			return ctx.Err()
		}
		go func() { done <- term.Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
		go io.Copy(io.Discard, far)
		_, _ = io.WriteString(far, `{"hello":{}}`+"\n"+`{"event":{"kind":"message","body":{"text":"hello"}}}`+"\n")
		time.Sleep(remote.Look + time.Second)
		far.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got, want := r.heard.String(), came+", "+went; got != want {
			t.Errorf("the room heard\n%s\nwant\n%s", got, want)
		}
	})
}

// TestConnectionIsReset: a real network connection that is reset ends the presence, once.
func TestConnectionIsReset(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	r, done := newRoom(), make(chan error, 1)
	go func() { done <- terminal(r).Serve(t.Context(), wire.NewConn(near, near, wire.MaxUp)) }()
	_, _ = io.WriteString(far, `{"hello":{}}`+"\n"+`{"event":{"kind":"message","body":{"text":"hello"}}}`+"\n"+`{"ev`)
	testkit.Await(t, 20*time.Second, "the message to come in", func() bool {
		return r.heard.String() == came+", parlour uid7/ann says hello"
	})
	if err := errors.Join(far.(*net.TCPConn).SetLinger(0), far.Close()); err != nil { // causes a reset
		t.Fatal(err)
	}
	if err := testkit.Receive(t, testkit.Patience, "the end of the session", done); err == nil {
		t.Error("a reset was taken for leaving")
	}
	if got, want := r.heard.String(), came+", parlour uid7/ann says hello, "+went; got != want {
		t.Errorf("the room heard\n%s\nwant\n%s", got, want)
	}
}
