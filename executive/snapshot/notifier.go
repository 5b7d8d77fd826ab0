package snapshot

import (
	"sync"
	"sync/atomic"
)

// A Notifier wakes the callers that wait for a change. The zero value is ready, and safe for
// concurrent use. While nobody waits, a change only reads a flag. It may be told of one whatever
// locks of a room are held, since it takes none of them.
type Notifier struct {
	waited atomic.Bool
	mu     sync.Mutex
	change chan struct{} // nil if nobody waits
}

// Changed returns a channel that is closed by the next change.
func (n *Notifier) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.change == nil {
		n.change = make(chan struct{})
		n.waited.Store(true)
	}
	return n.change
}

// Notify reports a change. It never blocks.
func (n *Notifier) Notify() {
	if !n.waited.Load() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.change != nil {
		close(n.change)
		n.change = nil
	}
	n.waited.Store(false)
}
