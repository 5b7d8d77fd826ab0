package room

import "earshot"

// Mode returns the room's mode, and a channel that is closed when it changes.
func (r *Room) Mode() (earshot.Mode, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode, r.moded
}

// SetMode changes the room's mode. Whoever captures sound ends when it sees
// that, not before SetMode returns.
func (r *Room) SetMode(m earshot.Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == m {
		return
	}
	r.mode = m
	close(r.moded)
	r.moded = make(chan struct{})
}
