package record

import (
	"errors"
	"slices"

	"earshot"
	"earshot/internal/lockorder"
)

// The errors of [Queue.Reserve].
var (
	ErrClosed = errors.New("the queue is closed")
	ErrFull   = errors.New("the queue is full")
)

// A Queue is the way of events into the journal, and what is remembered of those that took it. Each
// entry reserves a place first, and takes it when it has acted. It is safe for concurrent use.
type Queue[E Entry[E]] struct {
	Limit int // of the places

	mu       lockorder.Mutex[lockorder.Leaf]
	closed   bool
	reserved int           // places that will be taken in a moment
	waiting  []E           // entries that have taken theirs, oldest first
	vacant   chan struct{} // closed when there is room for more; nil if nobody waits for that
	recent   RecentCache[E]
}

// A Rule says how one event enters a queue. Its functions take no lock.
type Rule[E any] struct {
	// Same reports whether an entry that is remembered under the event's ID is that event, sent
	// again; an error says why the event may not enter. If it is neither, the entry is replaced.
	Same func(had E) (same bool, err error)

	// Create returns the entry, and whether it needs a place; if not, it is only remembered.
	Create func() (en E, place bool, err error)

	Always bool // it enters although the queue is full
}

// Reserve reserves a place for an event. first is false if the entry was there already, or with an
// error: [ErrClosed], [ErrFull] or that of the rule.
func (q *Queue[E]) Reserve(id earshot.EventID, r Rule[E]) (en E, first bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var none E
	if had, ok := q.recent.Get(id); ok {
		if same, err := r.Same(had); err != nil {
			return none, false, err
		} else if same {
			return had, false, nil
		}
	}
	if q.closed {
		return none, false, ErrClosed
	}
	en, place, err := r.Create()
	switch {
	case err != nil:
		return none, false, err
	case place && !r.Always && q.len() >= q.Limit:
		return none, false, ErrFull
	case place:
		q.reserved++
	}
	q.recent.Add(en)
	return en, true, nil
}

// Take takes the place that an entry has reserved. It reports false if the queue was closed
// meanwhile.
func (q *Queue[E]) Take(en E) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reserved--
	if !q.closed {
		q.waiting = append(q.waiting, en)
	}
	return !q.closed
}

// PutBack puts entries that wait on in front of the others.
func (q *Queue[E]) PutBack(front []E) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(front, q.waiting...)
}

// Next returns all waiting entries, which have left the queue then.
func (q *Queue[E]) Next() []E {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting
	q.waiting = nil
	q.vacate()
	return waiting
}

// Close closes the queue, and returns the entries that wait: no more come.
func (q *Queue[E]) Close() []E {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting
	q.closed, q.waiting = true, nil
	return waiting
}

// Closed reports whether the queue is closed.
func (q *Queue[E]) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Len returns how many places are reserved or taken.
func (q *Queue[E]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len()
}

// Waiting returns how many places are taken.
func (q *Queue[E]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Has reports whether any waiting entry fits.
func (q *Queue[E]) Has(fits func(E) bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, fits)
}

// Vacancy returns a channel that is closed when there is space for more.
func (q *Queue[E]) Vacancy() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.vacant == nil {
		q.vacant = make(chan struct{})
	}
	vacant := q.vacant
	if q.len() < q.Limit {
		q.vacate()
	}
	return vacant
}

func (q *Queue[E]) len() int { return q.reserved + len(q.waiting) }

func (q *Queue[E]) vacate() {
	if q.vacant != nil {
		close(q.vacant)
		q.vacant = nil
	}
}

// Find returns the entry of an event, if it is remembered.
func (q *Queue[E]) Find(id earshot.EventID) (en E, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.Get(id)
}

// Reply returns the reply of a turn, if it is remembered.
func (q *Queue[E]) Reply(turn earshot.TurnID) earshot.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.Reply(turn)
}

// Remember returns the entry of the same event if it is remembered already; otherwise it remembers
// en, which needs no place.
func (q *Queue[E]) Remember(en E) (had E, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if had, known = q.recent.Get(en.Event().ID); !known {
		q.recent.Add(en)
	}
	return had, known
}

// Forget forgets the entry of an event, and reports whether it was remembered.
func (q *Queue[E]) Forget(id earshot.EventID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, known := q.recent.Get(id)
	q.recent.Remove(id)
	return known
}

// Update replaces what is remembered of the events that change.
func (q *Queue[E]) Update(change func(earshot.Event) (now earshot.Event, changed bool)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recent.Update(change)
}
