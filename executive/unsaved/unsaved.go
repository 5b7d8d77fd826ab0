// Package unsaved holds the records that a room makes itself, such as how a turn ended, until its
// journal accepts them. A full disk refuses them for a while, and one of them may be at fault: each
// is tried again, and arrivals and departures stay in order. Beyond a bound the oldest are dropped.
// The package knows neither the journal nor the room, which reports what was dropped.
package unsaved

import (
	"slices"
	"time"

	"earshot"
)

const (
	// maxWaiting is how many events may wait for a full disk. While it is full no message is admitted,
	// so no turn begins: there are only a handful.
	maxWaiting = 64

	// retry is how often a journal that refused is tried again.
	retry = time.Second
)

// A Queue is the records that wait, oldest first. The zero value is empty. It is not safe for
// concurrent use.
type Queue struct {
	waiting []earshot.Event
	stuck   bool // the journal accepts nothing
}

// Add adds records that are to be kept.
func (q *Queue) Add(events ...earshot.Event) { q.waiting = append(q.waiting, events...) }

// Announces reports whether an arrival or a departure waits: later ones wait behind it.
func (q *Queue) Announces() bool { return slices.ContainsFunc(q.waiting, Announces) }

// Announces reports whether e says that somebody comes or goes.
func Announces(e earshot.Event) bool { return e.Body.Kind() == earshot.KindPresence }

// NextRetry returns when the records that the journal refused are tried again; the zero time if
// there are none.
func (q *Queue) NextRetry(now time.Time) time.Time {
	if len(q.waiting) == 0 {
		return time.Time{}
	}
	return now.Add(retry)
}

// An Attempt is what became of the records that waited.
type Attempt struct {
	Kept    []earshot.Event // on record, as the journal returned them
	Waiting int             // how many it refused, and did not drop
	Dropped int             // how many were given up, because too many wait
	Err     error           // why it refused them; nil if it had refused before as well
}

// Flush gives all records to a journal, which may add others meanwhile; they are tried the next
// time. If it refuses them together, each is given by itself, since one may be at fault.
func (q *Queue) Flush(journal func(...earshot.Event) ([]earshot.Event, error)) (a Attempt) {
	all := q.waiting
	q.waiting = nil
	if len(all) == 0 {
		return a
	}
	kept, err := journal(all...)
	if err == nil {
		q.stuck = false
		return Attempt{Kept: kept}
	}
	if !q.stuck {
		a.Err = err
	}
	q.stuck = true
	a.Kept = kept
	var left []earshot.Event
	for _, e := range all {
		behind := Announces(e) && slices.ContainsFunc(left, Announces)
		if len(all) > 1 && !behind {
			if own, err := journal(e); err == nil {
				a.Kept = append(a.Kept, own...)
				continue
			}
		}
		left = append(left, e)
	}
	left = append(left, q.waiting...)
	a.Dropped = max(0, len(left)-maxWaiting)
	q.waiting = left[a.Dropped:]
	a.Waiting = len(q.waiting)
	return a
}
