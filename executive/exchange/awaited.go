package exchange

import (
	"context"
	"slices"

	"earshot/executive/seat"
	"earshot/internal/lockorder"
	"earshot/participants/agents"
)

// Awaited are the seats that agents wait for: those of agents that sit in the room, not of ones that
// were made for a task. The zero value has none. It is safe for concurrent use.
type Awaited struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all []*AwaitedSeat
}

// An AwaitedSeat is a seat that another agent waits for.
type AwaitedSeat struct {
	seat *seat.Seat // nil until it is known
	end  context.CancelCauseFunc
}

// Add notes that an agent waits for another one, which may work until leave is called, or until its
// seat is taken away; the cause is then [ErrGone].
func (w *Awaited) Add(ctx context.Context, other agents.Record) (_ context.Context, is *AwaitedSeat, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	is = &AwaitedSeat{end: end}
	if other.Kind.Below() {
		return ctx, is, func() { end(nil) }
	}
	w.mu.Lock()
	w.all = append(w.all, is)
	w.mu.Unlock()
	return ctx, is, func() {
		end(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(w.all, func(e *AwaitedSeat) bool { return e == is })
	}
}

// Seat notes where the awaited agent sits. It may have gone meanwhile, so the caller then has
// [Awaited.Keep] called.
func (w *Awaited) Seat(is *AwaitedSeat, at *seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	is.seat = at
}

// Keep ends the wait for agents whose seats are not among those of the room.
func (w *Awaited) Keep(seats []*seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.all {
		if e.seat != nil && !slices.Contains(seats, e.seat) {
			e.end(ErrGone)
		}
	}
}

// Any reports whether any agent waits for another one.
func (w *Awaited) Any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all) > 0
}
