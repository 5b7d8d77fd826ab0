package console

import (
	"context"
	"slices"
	"sync"

	"earshot"
	"earshot/providers"
)

// unsent is how many bytes of messages and commands may wait for the room: sixteen of the longest,
// or some thousand lines. Nobody types more while a disk recovers.
const unsent = 1 << 20

// fleeting is how many events in sequence may wait that matter only at once. Only the last of them
// changes anything.
const fleeting = 8

// An item is an event on its way to the room, and the line it was typed as.
type item struct {
	event earshot.Event
	line  string
}

// size is how many bytes of [unsent] i takes.
func (i item) size() int { return 256 + len(i.line) }

// passing reports whether the event matters only at once.
func (i item) passing() bool {
	return i.event.Body.Kind() == earshot.KindTyping || i.event.Body == stop
}

// A queue holds what was typed until the room has taken it, in order.
type queue struct {
	mu     sync.Mutex
	items  []item
	bytes  int // of the lasting items, with the one on its way
	closed bool
	more   chan struct{} // of capacity 1: not empty, or closed
	less   chan struct{} // of capacity 1: something was sent
}

func newQueue() *queue {
	return &queue{more: make(chan struct{}, 1), less: make(chan struct{}, 1)}
}

// add appends i. It does not wait.
func (q *queue) add(i item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i.passing() {
		q.replace(i)
	} else {
		q.bytes += i.size()
	}
	q.items = append(q.items, i)
	q.wake()
}

// room waits until there is room for more, or ctx ends. It must be called by one goroutine at a
// time.
func (q *queue) room(ctx context.Context) {
	for {
		q.mu.Lock()
		full := q.bytes >= unsent
		q.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-q.less:
		case <-ctx.Done():
			return
		}
	}
}

// replace removes an item that i supersedes, if many of that kind wait already.
func (q *queue) replace(i item) {
	from := len(q.items)
	for from > 0 && q.items[from-1].passing() {
		from--
	}
	if len(q.items)-from < fleeting {
		return
	}
	rest := slices.DeleteFunc(q.items[from:], func(old item) bool { return old.event.Body.Kind() == i.event.Body.Kind() })
	q.items = q.items[:from+len(rest)]
}

// close says that nothing more will be added.
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

// send emits what is queued until the queue is closed and empty, or ctx ends. It calls failed for
// what the room did not accept.
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
	q.bytes -= i.size()
	select {
	case q.less <- struct{}{}:
	default:
	}
}
