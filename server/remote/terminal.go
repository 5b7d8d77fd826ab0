// Package remote is the daemon's side of an attached terminal: to the room it is an input and an
// outlet like the console, whose keys and screen are at the other end of a connection.
// [earshot/server/attach] is that end.
//
// A terminal that is slow, silent, or breaks the protocol harms only itself: what waits for it is
// bounded (see [earshot/server/wire]), an error ends its own connection, and when the connection
// ends, everything it had begun is ended for it.
//
// The person at a terminal may change while it is attached, so each event belongs to the person at
// that time.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/participants"
	"earshot/server/wire"
)

// The patience with a terminal that is going or gone.
const (
	// linger is how long events that had already arrived are still admitted after the connection
	// ended: people press Enter and close the window.
	linger = 5 * time.Second

	// silence is how long a terminal may take to say where a cut stopped it. A healthy one stops at
	// once, and a turn must not wait for one that is not.
	silence = 2 * time.Second
)

// A Backend is what a terminal joins. Its methods may be called from many
// goroutines.
type Backend interface {
	// Join begins a session, and lets its outlet, if there is one, join the room of the session,
	// with everybody who may be around it. Handle returns the current handle of its person, which
	// may change during the session; leave ends the session. After leave has returned, the outlet
	// is not used any more.
	Join(s participants.Session, o earshot.Outlet, a earshot.Audience) (handle func() earshot.Handle, leave func())

	// Admit hands in an event, and blocks until its room has it or ctx ends. The text of its error
	// is shown to the sender, and so is what a method Cure() string in its chain returns.
	Admit(ctx context.Context, e earshot.Event) error
}

// A Terminal is one attached terminal.
type Terminal struct {
	Session  participants.Session // of the person who attached it, with the room; Outlet is unique in the daemon
	Audience earshot.Audience     // around it
	Backend  Backend
	Name     func(earshot.ParticipantID) string // returns the name of a participant

	// Stay reports why the person who attached it may not stay. It is called before each event and
	// every few seconds, by one goroutine at a time; nil lets them stay.
	Stay func(context.Context) error

	Log *slog.Logger // nil logs nothing

	// Dropped, if set, receives the number of events that were not shown, since the terminal was
	// slow. It returns at once.
	Dropped func(n int)
}

// Serve connects the terminal to the room until its connection or ctx ends. When it returns,
// nothing of the terminal is left. The error says what broke the connection; it is nil if the
// terminal left or ctx ended.
func (t *Terminal) Serve(ctx context.Context, conn *wire.Conn) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // unblocks a read
	f, err := conn.Read()
	if err != nil {
		return fmt.Errorf("waiting for the terminal's first frame: %w", err)
	}
	hello, ok := f.(wire.Hello)
	if !ok {
		return errors.New("the terminal did not begin with hello")
	}
	s := &session{
		Terminal: t,
		conn:     conn,
		box:      wire.NewOutbox(),
		events:   make(chan earshot.Event, wire.Unanswered),
		attached: time.Now(),
		asking:   make(chan struct{}, 1),
		passes:   hello.Passes,
		out:      make(chan struct{}),
	}
	s.outlet = newOutlet(t.Session.Outlet, hello.Flows, s.box, t.Name)
	s.outlet.dropped, s.outlet.kept = t.Dropped, hello.Keep
	_ = s.box.Urgent(wire.Welcome{Outlet: t.Session.Outlet})
	return s.run(ctx)
}

// A session is an attached terminal.
type session struct {
	*Terminal
	conn     *wire.Conn
	box      *wire.Outbox
	outlet   *outlet
	handle   func() earshot.Handle // of the person at the terminal now
	passes   bool                  // no presence is announced for it
	attached time.Time

	// events holds what waits to be admitted. Its capacity is the number of events that a terminal
	// may have unanswered, so sending to it never blocks.
	events chan earshot.Event
	open   atomic.Int64 // events taken from the wire and not answered yet

	asking chan struct{} // holds one while the right to stay is checked
	why    error         // why they may not stay
	out    chan struct{} // closed when why is set
}

// errLeft ends the session of a terminal that has left.
var errLeft = errors.New("the terminal has left")

func (s *session) run(ctx context.Context) error {
	handle, leave := s.Backend.Join(s.Session, s.outlet, s.Audience)
	defer leave()
	s.handle = handle
	late, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()

	g, gctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(gctx, func() { s.conn.Close() })()
	hurry := time.AfterFunc(linger, drop)
	hurry.Stop() // until the connection has ended
	defer hurry.Stop()
	g.Go(func() error {
		err := s.read()
		s.outlet.close() // first of all: a turn waits for the end of its speech
		close(s.events)
		hurry.Reset(linger)
		return err
	})
	g.Go(func() error { return s.pump(gctx) })
	g.Go(func() error { return s.guard(gctx) })
	g.Go(func() error {
		s.admit(late)
		return nil
	})
	err := g.Wait()
	if errors.Is(err, errLeft) || ctx.Err() != nil {
		return nil
	}
	return err
}

// read handles what comes from the terminal, until it leaves or breaks the protocol.
func (s *session) read() error {
	for {
		f, err := s.conn.Read()
		if errors.Is(err, io.EOF) {
			return errLeft
		}
		if err != nil {
			return err
		}
		s.outlet.pulse.frames.Add(1)
		if err := s.take(f); err != nil {
			return err
		}
	}
}

// take handles one frame. It does not block.
func (s *session) take(f wire.Frame) error {
	switch f := f.(type) {
	case wire.Beat:
		return nil
	case wire.Heard:
		return s.outlet.heard(f)
	case wire.Event:
		if s.open.Add(1) > wire.Unanswered {
			return fmt.Errorf("more than %d events without an answer", wire.Unanswered)
		}
		s.events <- f.Event
		return nil
	}
	return fmt.Errorf("a terminal must not send %T", f)
}
