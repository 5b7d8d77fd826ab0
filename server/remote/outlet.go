package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"earshot"
	"earshot/server/wire"
)

// board is how many events wait to be shown at most. A screen holds about fifty; a person who was
// away for longer reads the history.
const board = 256

// errGone is the error of requests to a terminal that has gone.
var errGone = errors.New("the terminal has gone")

// An outlet is the screen of a terminal as the room knows it.
type outlet struct {
	name  string
	flows bool
	box   *wire.Outbox
	call  func(earshot.ParticipantID) string // returns the name of a participant

	free  chan struct{} // holds one while no speech is open
	pulse pulse

	mu      sync.Mutex
	speech  *speech // the last one that was opened
	closed  bool
	dropped func(n int) // receives the number of dropped events; may be nil
	missed  int         // events dropped that the terminal has not been told of
	kept    *wire.Keep  // that the terminal came with; nil if it keeps none
}

var _ interface {
	earshot.Flowing
	earshot.Board
	earshot.ReceiptHolder
} = (*outlet)(nil)

func newOutlet(name string, flows bool, box *wire.Outbox, call func(earshot.ParticipantID) string) *outlet {
	o := &outlet{name: name, flows: flows, box: box, call: call, free: make(chan struct{}, 1)}
	o.free <- struct{}{}
	o.pulse.asleep.Store(-1)
	return o
}

// Name implements [earshot.Outlet].
func (o *outlet) Name() string { return o.name }

// Flows implements [earshot.Flowing].
func (o *outlet) Flows() bool { return o.flows }

// Open implements [earshot.Outlet]. It waits until the speech before has ended, which after a cut
// is soon: the terminal has only to say where it stopped.
func (o *outlet) Open(ctx context.Context, op earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	select {
	case <-o.free:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s := &speech{
		box: o.box, turn: op.Turn, pulse: &o.pulse,
		tell: heard, over: func() { o.free <- struct{}{} }, moved: make(chan struct{}),
	}
	if err := o.begin(op, s); err != nil {
		o.free <- struct{}{}
		return nil, err
	}
	s.follow(ctx)
	return s, nil
}

// begin makes s the open speech, here and at the terminal.
func (o *outlet) begin(op earshot.Opening, s *speech) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errGone
	}
	open := wire.Open{Opening: op, Names: wire.NamesOf(o.call, []earshot.ParticipantID{op.To})}
	if err := o.box.Urgent(open); err != nil { // before any control of it
		return err
	}
	o.speech = s
	return nil
}

// KeepReceipt implements [earshot.ReceiptHolder]. It replaces one that has not been sent yet.
func (o *outlet) KeepReceipt(r []byte) {
	if o.kept != nil {
		o.box.Drop(-1, func(f wire.Frame) bool { _, ok := f.(wire.Keep); return ok })
		_ = o.box.Put(wire.Keep{Receipt: r})
	}
}

// TakeReceipt implements [earshot.ReceiptHolder]. An outlet comes to a room once.
func (o *outlet) TakeReceipt() []byte {
	if o.kept == nil {
		return nil
	}
	return o.kept.Receipt
}

// heard handles a reported position. One for a speech that has ended is late, not wrong.
func (o *outlet) heard(h wire.Heard) error {
	o.mu.Lock()
	s := o.speech
	o.mu.Unlock()
	if s == nil || s.turn != h.Turn {
		return nil
	}
	if err := s.heardUpTo(h.Heard); err != nil {
		return fmt.Errorf("in turn %s: %w", h.Turn, err)
	}
	return nil
}

// close ends the open speech, at the last position that was reported.
func (o *outlet) close() {
	o.mu.Lock()
	o.closed = true
	s := o.speech
	o.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// Show implements [earshot.Board].
func (o *outlet) Show(e earshot.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if e.Body.Kind() == earshot.KindSpeech { // which the next one replaces, however slow the terminal
		o.box.Drop(-1, func(f wire.Frame) bool { return isInterim(f) && f.(wire.Show).Event.From == e.From })
	} else if o.box.Count(isShow) >= board {
		o.miss(o.box.Drop(1, isShow))
	}
	if o.box.Put(wire.Show{Event: e, Names: wire.NamesIn(e, o.call)}) != nil {
		o.miss(1)
	}
}

// miss counts n dropped events, in one frame for all that the terminal has not been told of yet.
func (o *outlet) miss(n int) {
	if o.box.Drop(1, isMissed) == 0 {
		o.missed = 0
	}
	o.missed += n
	if o.dropped != nil && n > 0 {
		o.dropped(n)
	}
	_ = o.box.Put(wire.Missed{N: o.missed})
}

func isShow(f wire.Frame) bool {
	_, ok := f.(wire.Show)
	return ok && !isInterim(f)
}

// isInterim reports whether f shows words being said.
func isInterim(f wire.Frame) bool {
	s, ok := f.(wire.Show)
	return ok && s.Event.Body.Kind() == earshot.KindSpeech
}

func isMissed(f wire.Frame) bool {
	_, ok := f.(wire.Missed)
	return ok
}
