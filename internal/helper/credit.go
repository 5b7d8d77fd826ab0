package helper

import (
	"context"
	"sync"
)

// A Credit is how much sound a sender may still send. The receiver grants what its device has
// consumed, so that what is ahead of the device is bounded. The zero value has granted nothing
// yet; it may be used from many goroutines.
type Credit struct {
	mu   sync.Mutex
	left int
	some chan struct{} // holds a token when there may be something to take
}

// Grant adds n bytes, up to most unused bytes at once: a receiver that grants without end is not
// believed.
func (c *Credit) Grant(n, most int) {
	if n <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = min(c.left+min(n, most), most)
	c.wake()
}

// Take takes up to n bytes, at least one, and waits until there is one.
func (c *Credit) Take(ctx context.Context, n int) (int, error) {
	for {
		got, some := c.take(n)
		if got > 0 {
			return got, nil
		}
		select {
		case <-some:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// take takes what is available, or returns a channel to wait for. A taker that leaves something
// wakes the next.
func (c *Credit) take(n int) (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := max(0, min(c.left, n))
	c.left -= got
	c.wake()
	return got, c.some
}

// wake wakes one waiter, if something is available.
func (c *Credit) wake() {
	if c.some == nil {
		c.some = make(chan struct{}, 1)
	}
	if c.left > 0 {
		select {
		case c.some <- struct{}{}:
		default:
		}
	}
}
