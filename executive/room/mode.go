package room

// A Mode is what a room lets in.
type Mode string

// The modes. While it is muted the senses that hear are stopped where they
// capture, so that no sound exists that could be kept; text goes on.
const (
	Live  Mode = "live"
	Muted Mode = "muted"
)

// Listens reports whether senses that hear may run in mode m.
func (m Mode) Listens() bool { return m == Live }

// Mode returns the room's mode, and a channel that is closed when it changes.
func (r *Room) Mode() (Mode, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode, r.moded
}

// SetMode changes the room's mode. Whoever captures sound ends when it sees
// that, not before SetMode returns.
func (r *Room) SetMode(m Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == m {
		return
	}
	r.mode = m
	close(r.moded)
	r.moded = make(chan struct{})
}
