// Package attach is the far side of an attached terminal: it lets an input and an outlet that run
// here serve a daemon elsewhere. They are the same console that the daemon itself uses, and do not
// notice. The daemon's side is [earshot/server/remote].
package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/providers"
	"earshot/server/wire"
)

// ErrLost says that the daemon went away while the terminal was attached.
var ErrLost = errors.New("the connection to earshot was lost")

// parting is how long a daemon may take to accept the last frames of a terminal that leaves. A
// healthy one takes them at once.
const parting = 2 * time.Second

// greeting is how long the provider waits for the daemon to say that the terminal is in the room. If
// it takes longer, whoever sits there can at least type, and leave.
const greeting = 5 * time.Second

// A Passing outlet is there for a moment, such as for one question: nobody's presence is announced
// for it. It is optional; [Run] tests for it.
type Passing interface {
	earshot.Outlet
	Passes() bool
}

// Run attaches p and o to the daemon at the other end of conn, until p ends by itself, fails, or
// ctx ends. It returns what p returned, nil if ctx ended, and an error that wraps [ErrLost] if the
// daemon went first. When it returns, everything that it started has returned, and conn is closed.
//
// An event that p emits is admitted when emit returns nil. If emit returns an [*wire.Refusal], the
// room refused it. After any other error it may or may not have been admitted; an event emitted
// again with the same ID is kept once.
//
// p runs when the terminal is in the room: whatever happens there from then on is shown. Before o
// shows something, names knows everybody mentioned in it. If the person may not stay any
// more, the error is a [*wire.Refusal].
func Run(ctx context.Context, conn *wire.Conn, p providers.Provider, o earshot.Outlet, names *Names) error {
	defer conn.Close()
	s := &session{
		conn:   conn,
		box:    wire.NewOutbox(),
		outlet: o,
		names:  names,
		window: make(chan struct{}, wire.Unanswered),
		there:  make(chan struct{}),
		lost:   make(chan struct{}),
	}
	flowing, ok := o.(earshot.Flowing)
	passing, passes := o.(Passing)
	_ = s.box.Urgent(wire.Hello{Flows: ok && flowing.Flows(), Passes: passes && passing.Passes(), Keep: cmp.Or(names.kept.Load(), new(wire.Keep))})
	return s.run(ctx, p)
}

// A session is an attached terminal.
type session struct {
	conn   *wire.Conn
	box    *wire.Outbox
	outlet earshot.Outlet
	names  *Names

	welcomed bool   // used by the reading goroutine, as is name
	name     string // the outlet's name in the room

	window chan struct{} // holds one for each unanswered event
	there  chan struct{} // closed when the terminal is in the room
	lost   chan struct{} // closed when no answer can come any more

	mu      sync.Mutex
	waiting []chan<- error // receive the answers, in the order of the events
	number  int64          // counts the events answered so far

	speeches line
}

// errDone ends a session whose provider has ended.
var errDone = errors.New("the terminal is done")

// run runs the session: the provider, the pump and the reader, until the first of them ends.
func (s *session) run(ctx context.Context, p providers.Provider) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		select {
		case <-s.there: // once a prompt is visible, everything after it is shown
		case <-time.After(greeting):
		case <-gctx.Done(): // it learns that itself
		}
		if err := p.Run(gctx, s.emit); err != nil {
			return err
		}
		return errDone
	})
	written := make(chan struct{})
	g.Go(func() error {
		defer close(written)
		return s.pump(gctx)
	})
	g.Go(func() error {
		defer close(s.lost)
		return s.read(gctx)
	})
	g.Go(func() error { // hangs up, once the speeches have reported how far they came
		<-gctx.Done()
		s.speeches.close()
		s.box.Close()
		select {
		case <-written:
		case <-time.After(parting):
		}
		return s.conn.Close()
	})
	err := g.Wait()
	if errors.Is(err, errDone) || ctx.Err() != nil {
		return nil
	}
	return err
}

// pump writes the outgoing frames, up to the last. If the daemon does not take them, the session
// is lost.
func (s *session) pump(ctx context.Context) error {
	err := s.conn.Pump(context.WithoutCancel(ctx), s.box)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// read handles what comes from the daemon.
func (s *session) read(ctx context.Context) error {
	for {
		f, err := s.conn.Read()
		if errors.Is(err, io.EOF) {
			return ErrLost
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		err = s.take(ctx, f)
		if r, ok := errors.AsType[*wire.Refusal](err); ok {
			return r
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// take handles one frame. It does not block.
func (s *session) take(ctx context.Context, f wire.Frame) error {
	switch f := f.(type) {
	case wire.Beat:
		s.beat()
	case wire.Welcome:
		if s.welcomed {
			return errors.New("a daemon must welcome a terminal once")
		}
		s.welcomed, s.name = true, f.Outlet
		s.names.kept.Store(nil) // it has arrived
		close(s.there)
	case wire.Ack:
		return s.answered(f.N, nil)
	case wire.Refused:
		return s.answered(f.N, &f.Refusal)
	case wire.Open:
		s.names.Learn(f.Names)
		s.open(ctx, f.Opening)
	case wire.Say:
		return s.speeches.say(f)
	case wire.Do:
		s.speeches.do(f)
	case wire.Finish:
		s.speeches.finish(f)
	case wire.Keep:
		s.names.kept.Store(&f)
	case wire.Show:
		s.names.Learn(f.Names)
		s.show(f.Event)
	case wire.Missed:
		s.show(missed(f.N))
	case wire.Ended:
		return &f.Refusal
	default:
		return fmt.Errorf("a daemon must not send %T", f)
	}
	return nil
}

// beat answers beats: one answer, however many came.
func (s *session) beat() {
	s.box.Drop(-1, func(f wire.Frame) bool {
		_, ok := f.(wire.Beat)
		return ok
	})
	_ = s.box.Urgent(wire.Beat{})
}

// show shows e if the outlet is a board. An event that came in here is marked with the outlet's
// own name for itself.
func (s *session) show(e earshot.Event) {
	board, ok := s.outlet.(earshot.Board)
	if !ok {
		return
	}
	switch e.Via {
	case s.name:
		e.Via = s.outlet.Name()
	case s.outlet.Name(): // the name of the daemon's own console
		e.Via = "daemon/" + e.Via
	}
	board.Show(e)
}

// missed returns the notice that is shown in place of n events.
func missed(n int) earshot.Event {
	return earshot.Event{Body: earshot.Notice{
		Key:  "terminal",
		Text: fmt.Sprintf("%d events were not shown, because this terminal was too slow", n),
		Cure: "earshot history",
	}}
}
