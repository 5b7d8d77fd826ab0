package room

import "context"

// Ping returns nil as soon as the owner of the room has come round since it was asked:
// whoever waits for a room to do something does not wait in vain. While the owner waits
// for a disk, or for ever, it does not, and Turns returns the cause of the end of ctx. A
// room that has closed has nothing left to do, and is not stuck.
//
// It may be called from many goroutines, but not by the owner.
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

// Speaking reports whether a turn is live: something is said, or about to be, or it is
// being found out how much of it was heard.
func (r *Room) Speaking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn != nil
}
