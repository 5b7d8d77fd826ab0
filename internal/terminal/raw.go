package terminal

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// A raw is the way the terminal was before its keys were read one by one, so
// that it can be made so again. It may be left from anywhere, and twice.
type raw struct {
	mu     sync.Mutex
	fd     int
	before *term.State
}

func (r *raw) enter(fd int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	r.fd = fd
	if r.before == nil {
		r.before = before
	}
	return nil
}

// again enters once more after somebody else may have changed the terminal.
func (r *raw) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before != nil {
		term.MakeRaw(r.fd)
	}
}

// leave makes the terminal as it was. One that is gone is nobody's.
func (r *raw) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before == nil {
		return nil
	}
	before := r.before
	r.before = nil
	if err := term.Restore(r.fd, before); err != nil && !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("giving the terminal back: %w", err)
	}
	return nil
}

// pause makes the terminal as it was until again is called.
func (r *raw) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before != nil {
		term.Restore(r.fd, r.before)
	}
}
