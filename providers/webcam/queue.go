package webcam

import (
	"slices"
	"sync"

	"earshot/models/see"
)

// most is how many pictures wait for the room: some seconds of them, as long as a disk takes to
// recover. The latest picture is the one that matters.
const most = 32

// A queue holds observations of pictures until the loop takes them. When it is full, it drops the
// oldest one without a detection, or else the oldest.
type queue struct {
	mu      sync.Mutex
	waiting []see.Observation
	dropped int
	more    chan struct{} // of capacity 1: not empty
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// add appends o. It does not block.
func (q *queue) add(o see.Observation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= most {
		i := slices.IndexFunc(q.waiting, func(o see.Observation) bool { return !o.Detected && !o.Cut })
		q.waiting = slices.Delete(q.waiting, max(0, i), max(0, i)+1)
		q.dropped++
	}
	q.waiting = append(q.waiting, o)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns everything that waits, and how many were dropped.
func (q *queue) take() (all []see.Observation, dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, dropped = q.waiting, q.dropped
	q.waiting, q.dropped = nil, 0
	return all, dropped
}
