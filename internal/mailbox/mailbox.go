// Package mailbox is a bounded queue between goroutines. Any number of goroutines put items in and
// never wait; one takes them out. If it is slow, a [Rule], which is a function, decides what is
// dropped, and the drops are counted.
//
// A [Notifier] tells any number of goroutines that something has changed, and keeps nothing.
//
// A queue that needs more than a rule is a type of its own: docs/decisions/queues.md lists them.
package mailbox

import (
	"context"
	"slices"
	"sync"
)

// A Rule bounds a queue. Put calls it with all items, the newest last. It returns those that stay,
// in the same array, and how many it dropped. An item that the newest one supersedes does not count
// as dropped, since nothing is lost. The queue is locked meanwhile: a rule must neither use it nor
// wait.
type Rule[T any] func(items []T) (kept []T, dropped int)

// A Queue holds items until they are taken, the oldest first. Its methods may be called from any
// goroutine, but only one goroutine may take. It starts no goroutine, and allocates nothing once it
// has been full.
type Queue[T any] struct {
	rule Rule[T]
	more chan struct{} // of capacity 1: not empty, or closed

	mu      sync.Mutex
	items   []T
	dropped int // since TakeAll
	closed  bool
}

// New returns an empty queue with a rule, which may be nil if something else bounds the queue.
func New[T any](rule Rule[T]) *Queue[T] {
	return &Queue[T]{rule: rule, more: make(chan struct{}, 1)}
}

// Put adds an item, and returns how many items the rule dropped, which may include the new one. It
// does not wait.
func (q *Queue[T]) Put(item T) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item)
	if q.rule != nil {
		all := q.items
		q.items, dropped = q.rule(all)
		clear(all[len(q.items):]) // a removed item does not stay in memory
		q.dropped += dropped
	}
	q.wake()
	return dropped
}

// Close says that nothing more will be put in. What waits can still be taken.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *Queue[T]) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// More returns a channel for a select: it yields when there may be something to take.
func (q *Queue[T]) More() <-chan struct{} { return q.more }

// Len returns how many items wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// Take returns the oldest item, and waits for one. It returns false when the queue is closed and
// empty, or ctx has ended, even if items wait then.
func (q *Queue[T]) Take(ctx context.Context) (item T, ok bool) {
	for ctx.Err() == nil {
		if item, ok, closed := q.next(); ok || closed {
			return item, ok
		}
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
	return item, false
}

func (q *Queue[T]) next() (item T, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, false, q.closed
	}
	item = q.items[0]
	q.items = slices.Delete(q.items, 0, 1)
	return item, true, q.closed
}

// TakeAll appends all items to buf, and returns it, and how many were dropped since it was last
// called. It does not wait.
func (q *Queue[T]) TakeAll(buf []T) (all []T, dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, dropped = append(buf, q.items...), q.dropped
	clear(q.items)
	q.items, q.dropped = q.items[:0], 0
	return all, dropped
}
