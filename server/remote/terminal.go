// Package remote is the daemon's side of an attached terminal: for the room a
// sense and an outlet like the console, whose keys and whose screen are at the
// other end of a connection. [earshot/server/attach] is that end.
//
// A terminal that is slow, silent, or says what nobody should, harms itself
// alone: what waits for it is bounded (see [earshot/server/wire]), whatever it
// breaks ends its own connection, and when the connection ends, everything that
// it had begun is ended for it.
//
// Who is at a terminal may change while it is attached, so whatever comes from
// it is of whoever is there by then.
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
	// linger is how long what had already come is still being admitted after
	// the connection ended: somebody may press Enter and close the window.
	linger = 5 * time.Second

	// silence is how long a terminal may take to say where a cut stopped it.
	// It stops at once if it is well, and a turn must not wait for one that is
	// not.
	silence = 2 * time.Second
)

// A Backend is what a terminal joins. Its methods may be called from many
// goroutines.
type Backend interface {
	// Join says that a session has begun, and lets its outlet, if there is one, join the
	// room of the session, with everybody who may be around it. Handle returns by whom what
	// comes from it is done now, which may change while it lasts; leave says that it is over.
	// After leave has returned the outlet is not opened or shown anything any more.
	Join(s participants.Session, o earshot.Outlet, a earshot.Audience) (handle func() earshot.Handle, leave func())

	// Admit hands in an event, and blocks until its room has it or ctx ends.
	// The text of its error is shown to whoever sent the event, and so is what
	// a method Cure() string in its chain returns.
	Admit(ctx context.Context, e earshot.Event) error
}

// A Terminal is one attached terminal.
type Terminal struct {
	Session  participants.Session // of whoever attached it, with the room; Outlet is unique in the house
	Audience earshot.Audience     // around it
	Backend  Backend
	Name     func(earshot.ParticipantID) string // what somebody is called

	// Stay reports why whoever attached it may not stay. It is asked before
	// each event and every few seconds, by one goroutine at a time; nil lets
	// them stay.
	Stay func(context.Context) error

	Log *slog.Logger // nil logs nothing

	// Dropped, if set, is told how many events were not shown, since the terminal was
	// slow. It returns at once.
	Dropped func(n int)
}

// Serve brings the terminal into the room, until its connection or ctx ends,
// and takes it out again. When it returns, nothing is left of it. The error says
// what broke the connection; that the terminal left, or ctx ended, is none.
func (t *Terminal) Serve(ctx context.Context, conn *wire.Conn) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // a read that waits ends
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
	s.outlet.dropped = t.Dropped
	_ = s.box.Urgent(wire.Welcome{Outlet: t.Session.Outlet})
	return s.run(ctx)
}

// A session is a terminal while it is attached.
type session struct {
	*Terminal
	conn     *wire.Conn
	box      *wire.Outbox
	outlet   *outlet
	handle   func() earshot.Handle // of whoever is at the terminal now
	passes   bool                  // nobody comes or goes by it
	attached time.Time

	// events waits to be admitted. Its length is the number of events that a
	// terminal may have unanswered, so sending to it never blocks.
	events chan earshot.Event
	open   atomic.Int64 // events taken from the wire and not answered yet

	asking chan struct{} // holds one while it is asked whether somebody may stay
	why    error         // they may not; for whoever asks
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

// read takes in what comes from the terminal, until it leaves or breaks a rule.
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

// take takes in one frame. It does not block.
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
