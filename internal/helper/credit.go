package helper

import (
	"context"
	"sync"
)

// A Credit is how much sound a sender may still send. The receiver grants what
// its device has taken, so that what is ahead of the device is bounded. The
// zero value grants nothing yet; it may be used from many goroutines.
type Credit struct {
	mu   sync.Mutex
	left int
	more chan struct{} // closed, and made new, by a grant
}

// Grant adds n bytes, up to most that may be unused at once: a receiver that
// grants without end is not believed.
func (c *Credit) Grant(n, most int) {
	if n <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = min(c.left+min(n, most), most)
	if c.more != nil {
		close(c.more)
		c.more = nil
	}
}

// Take takes up to n bytes, at least one, and waits until there is one.
func (c *Credit) Take(ctx context.Context, n int) (int, error) {
	for {
		c.mu.Lock()
		if c.left > 0 {
			got := min(c.left, n)
			c.left -= got
			c.mu.Unlock()
			return got, nil
		}
		if c.more == nil {
			c.more = make(chan struct{})
		}
		more := c.more
		c.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// Left returns what may be sent at once.
func (c *Credit) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}
