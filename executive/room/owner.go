package room

import "context"

// Ping returns nil as soon as the owner of the room has gone round its loop since the call: whoever
// waits for the room to do something does not wait in vain. If the owner waits for a disk, Ping
// does not return until ctx ends, and then returns its cause. A room that has closed has nothing
// left to do, and is not stuck.
//
// It is safe for concurrent use, but the owner must not call it.
func (r *Room) Ping(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case r.ownerCalls <- func(context.Context) { close(done) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.shut:
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Speaking reports whether a turn is live: something is said, or about to be, or it is being
// determined how much of it was heard.
func (r *Room) Speaking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn != nil
}

// ownerCall is something that the owner of the room does for another goroutine.
type ownerCall func(context.Context)

// runOnOwner lets the owner do something, and waits for it. The owner itself must not call it: it
// would wait for ever.
func (r *Room) runOnOwner(ctx context.Context, do ownerCall) error {
	done := make(chan struct{})
	select {
	case r.ownerCalls <- func(ctx context.Context) { defer close(done); do(ctx) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.shut:
		return ErrClosed
	}
	<-done
	return nil
}
