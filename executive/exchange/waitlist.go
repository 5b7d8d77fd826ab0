package exchange

import (
	"context"
	"slices"

	"earshot/executive/seat"
	"earshot/internal/lockorder"
	"earshot/participants/agents"
)

// A WaitList holds the seats that agents wait for: those of agents that sit in the room, not of ones
// that were made for a task. The zero value has none. It is safe for concurrent use.
type WaitList struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all []*Wait
}

// A Wait is a seat that another agent waits for.
type Wait struct {
	seat *seat.Seat // nil until it is known
	end  context.CancelCauseFunc
}

// Add notes that an agent waits for another one, which may work until leave is called, or until its
// seat is taken away; the cause is then [ErrGone].
func (w *WaitList) Add(ctx context.Context, other agents.Record) (_ context.Context, is *Wait, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	is = &Wait{end: end}
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
		w.all = slices.DeleteFunc(w.all, func(e *Wait) bool { return e == is })
	}
}

// Seat notes where the awaited agent sits. It may have gone meanwhile, so the caller then has
// [WaitList.Keep] called.
func (w *WaitList) Seat(is *Wait, at *seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	is.seat = at
}

// Keep ends the wait for agents whose seats are not among those of the room.
func (w *WaitList) Keep(seats []*seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.all {
		if e.seat != nil && !slices.Contains(seats, e.seat) {
			e.end(ErrGone)
		}
	}
}

// Any reports whether any agent waits for another one.
func (w *WaitList) Any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all) > 0
}
