package bus

import (
	"context"
	"sync"

	"earshot/internal/mailbox"
)

// A Queue holds what waits between goroutines, up to [MaxPending] bytes of it. Any number of
// goroutines may put items in; one takes them out.
type Queue[T any] struct {
	size  func(T) int
	items *mailbox.Queue[T]

	mu    sync.Mutex
	bytes int // that wait
}

// NewQueue returns an empty queue of items that have a size in bytes.
func NewQueue[T any](size func(T) int) *Queue[T] {
	return &Queue[T]{size: size, items: mailbox.New[T](nil)}
}

// Put adds an item, and reports whether there was room. It does not wait.
func (q *Queue[T]) Put(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.size(item)
	if q.bytes+n > MaxPending {
		return false
	}
	q.bytes += n
	q.items.Put(item)
	return true
}

// Take returns the oldest item, and waits for one. It returns false when the queue is closed and
// empty, or ctx has ended.
func (q *Queue[T]) Take(ctx context.Context) (T, bool) {
	item, ok := q.items.Take(ctx)
	if ok {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.bytes -= q.size(item)
	}
	return item, ok
}

// Close says that nothing more will be put in. What waits can still be taken.
func (q *Queue[T]) Close() { q.items.Close() }
