package microphone

import (
	"context"
	"slices"
	"sync"

	"earshot"
)

const (
	// mostUtterances is how many utterances wait for the room: half an hour of talk for a disk to
	// recover, in some hundred kilobytes.
	mostUtterances = 256

	// mostCalls is how often somebody may say "stop" before the room has taken one.
	mostCalls = 8
)

// An item is an event, and the number of its voice; 0 is none.
type item struct {
	earshot.Event
	voice int
}

// A queue holds events until the room has taken them, in order and within its bounds.
type queue struct {
	mu     sync.Mutex
	events []item
	closed bool
	more   chan struct{} // of capacity 1: not empty, or closed
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// add appends e, and reports whether it dropped an utterance. It does not block.
func (q *queue) add(e item) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case isUtterance(e):
		dropped = q.drop(isUtterance, mostUtterances)
	case isCall(e):
		q.drop(isCall, mostCalls)
	case len(q.events) > 0 && isStage(q.events[len(q.events)-1]):
		q.events = q.events[:len(q.events)-1] // e supersedes it
	}
	q.events = append(q.events, e)
	q.wake()
	return dropped
}

// drop removes the oldest of a kind, if there are most.
func (q *queue) drop(kind func(item) bool, most int) bool {
	n, oldest := 0, -1
	for i, e := range q.events {
		if kind(e) {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n < most {
		return false
	}
	q.events = slices.Delete(q.events, oldest, oldest+1)
	return true
}

func isUtterance(e item) bool { return e.Body.Kind() == earshot.KindUtterance }

func isCall(e item) bool {
	s, ok := e.Body.(earshot.Speech)
	return ok && s.Stage == earshot.VoiceCalls
}

// isStage reports whether the next event supersedes e.
func isStage(e item) bool { return !isUtterance(e) && !isCall(e) }

// utterances returns how many utterances wait.
func (q *queue) utterances() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.events {
		if isUtterance(e) {
			n++
		}
	}
	return n
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

// take returns the next event, and waits for one. It returns false when none will come, or ctx has
// ended.
func (q *queue) take(ctx context.Context) (item, bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.events) > 0 {
			e := q.events[0]
			q.events = slices.Delete(q.events, 0, 1)
			q.mu.Unlock()
			return e, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			break
		}
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
	return item{}, false
}
