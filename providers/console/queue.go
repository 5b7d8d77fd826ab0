package console

import (
	"context"
	"slices"
	"sync/atomic"

	"earshot"
	"earshot/internal/mailbox"
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
func (i item) size() int64 { return 256 + int64(len(i.line)) }

// passing reports whether the event matters only at once.
func (i item) passing() bool {
	return i.event.Body.Kind() == earshot.KindTyping || i.event.Body == stop
}

// A queue holds what was typed until the room has taken it, in order.
type queue struct {
	items *mailbox.Queue[item]
	bytes atomic.Int64  // of the lasting items, with the one on its way
	less  chan struct{} // of capacity 1: something was sent
}

func newQueue() *queue {
	return &queue{items: mailbox.New(replace), less: make(chan struct{}, 1)}
}

// replace removes what the last item supersedes, if many events wait in sequence that matter only at
// once.
func replace(all []item) (kept []item, dropped int) {
	last := len(all) - 1
	from := last
	for from > 0 && all[from-1].passing() {
		from--
	}
	if !all[last].passing() || last-from < fleeting {
		return all, 0
	}
	rest := slices.DeleteFunc(all[from:last], func(old item) bool { return old.event.Body.Kind() == all[last].event.Body.Kind() })
	return append(all[:from+len(rest)], all[last]), 0
}

// add appends i. It does not wait.
func (q *queue) add(i item) {
	if !i.passing() {
		q.bytes.Add(i.size())
	}
	q.items.Put(i)
}

// room waits until there is room for more, or ctx ends. It must be called by one goroutine at a
// time.
func (q *queue) room(ctx context.Context) {
	for q.bytes.Load() >= unsent {
		select {
		case <-q.less:
		case <-ctx.Done():
			return
		}
	}
}

// send emits what is queued until the queue is closed and empty. It calls failed for what the room
// did not accept, which is everything once ctx has ended.
func (q *queue) send(ctx context.Context, emit providers.Emit, failed func(item, error)) {
	always := context.WithoutCancel(ctx)
	for i, ok := q.items.Take(always); ok; i, ok = q.items.Take(always) {
		if err := emit(ctx, i.event); err != nil {
			failed(i, err)
		}
		if i.passing() {
			continue
		}
		q.bytes.Add(-i.size())
		select {
		case q.less <- struct{}{}:
		default:
		}
	}
}
