package console

import (
	"context"
	"slices"
	"sync"

	"earshot"
	"earshot/providers"
)

// unsent is how many messages and commands may wait for the room. Nobody types
// more while a disk recovers.
const unsent = 16

// An item is an event on its way to the room, and the line it was typed as.
type item struct {
	event earshot.Event
	line  string
}

// passing reports whether the event is of use only at once.
func (i item) passing() bool {
	return i.event.Body.Kind() == earshot.KindTyping || i.event.Body == stop
}

// A queue holds what was typed until the room has taken it, in order.
type queue struct {
	mu     sync.Mutex
	items  []item
	count  int // of those that do not pass, with the one on its way
	closed bool
	more   chan struct{} // of capacity 1: not empty, or closed
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// add appends i, and reports false if there is no room for it. It does not
// wait.
func (q *queue) add(i item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case i.passing():
		q.replace(i)
	case q.count == unsent:
		return false
	default:
		q.count++
	}
	q.items = append(q.items, i)
	q.wake()
	return true
}

// replace takes out what i says anew.
func (q *queue) replace(i item) {
	for n := len(q.items) - 1; n >= 0 && q.items[n].passing(); n-- {
		if q.items[n].event.Body.Kind() == i.event.Body.Kind() {
			q.items = slices.Delete(q.items, n, n+1)
		}
	}
}

// close says that nothing will be added.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// send emits what is queued until the queue is closed and empty, or ctx ends.
// It calls failed for what the room did not take.
func (q *queue) send(ctx context.Context, emit providers.Emit, failed func(item, error)) {
	for {
		i, ok, closed := q.take()
		switch {
		case ok:
			if err := emit(ctx, i.event); err != nil {
				failed(i, err)
			}
			q.done(i)
			continue
		case closed:
			return
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return
		}
	}
}

func (q *queue) take() (i item, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item{}, false, q.closed
	}
	i = q.items[0]
	q.items = q.items[1:]
	return i, true, q.closed
}

func (q *queue) done(i item) {
	if i.passing() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count--
}
