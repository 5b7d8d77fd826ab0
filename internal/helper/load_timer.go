package helper

import (
	"sync"
	"time"
)

// A LoadTimer bounds how long a helper may load its models. It starts when the helper has been told
// which: what its dialer does before, such as trying a model for the first time, has a bound of its
// own. Its methods may be called from several goroutines, in any order.
type LoadTimer struct {
	mu    sync.Mutex
	timer *time.Timer // nil before it starts
	over  bool        // it is not to start any more
}

// Start starts the timer, unless the helper is ready by now.
func (l *LoadTimer) Start(patience time.Duration, late func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && l.timer == nil {
		l.timer = time.AfterFunc(patience, late)
	}
}

// Stop stops the timer, for the helper is ready or has ended. It reports whether it was the first to
// do so, and in time.
func (l *LoadTimer) Stop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	return l.timer == nil || l.timer.Stop()
}
