// Package wait waits for a time or a condition, and for no longer than a context lasts.
package wait

import (
	"context"
	"time"
)

// Interval is how often [Until] looks.
const Interval = 20 * time.Millisecond

// For waits for d, or until ctx ends, and reports whether d has passed.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Until returns when holds is true, after most, or when ctx ends. It returns what holds did last.
func Until(ctx context.Context, most time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !holds() {
		if !For(ctx, Interval) {
			return false
		}
	}
	return true
}
