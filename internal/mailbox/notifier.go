package mailbox

import "sync"

// A Notifier wakes the callers that wait for a change. The zero value is ready, and safe for
// concurrent use, whatever locks are held.
type Notifier struct {
	mu     sync.Mutex
	change chan struct{} // nil if nobody waits
}

// Changed returns a channel that is closed by the next change.
func (n *Notifier) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.change == nil {
		n.change = make(chan struct{})
	}
	return n.change
}

// Notify reports a change. It never blocks.
func (n *Notifier) Notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.change != nil {
		close(n.change)
		n.change = nil
	}
}
