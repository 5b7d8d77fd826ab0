// Package record holds the records of a room itself that the journal has not accepted ([RetryQueue]),
// finds in the past what was not finished when the program ended ([LastWords], [CutShort]), and makes and
// reads receipts of what was heard of that ([Sealer]). It knows neither the journal nor the room.
package record

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/internal/lockorder"
)

// TextOf returns what somebody said in an event: a message, an utterance or a reply.
func TextOf(e earshot.Event) earshot.Text {
	switch body := e.Body.(type) {
	case earshot.Message:
		return body.Whole()
	case earshot.Utterance:
		return body.Text
	case earshot.Reply:
		return body.Delivered()
	}
	return ""
}

// Words returns what somebody said or wrote themselves: of a message only its text.
func Words(b earshot.Body) earshot.Text {
	switch body := b.(type) {
	case earshot.Message:
		return body.Text
	case earshot.Utterance:
		return body.Text
	case earshot.Reply:
		return body.Delivered()
	}
	return ""
}

const (
	// maxUnsaved is how many events may wait for a full disk. While it is full no message is
	// admitted, so no turn begins: there are only a handful.
	maxUnsaved = 64

	// retry is how often a journal that refused is tried again.
	retry = time.Second

	// farewell bounds the writing when the program ends.
	farewell = 5 * time.Second
)

// Outlive returns a context that outlives ctx by 5 s: a write that has begun is finished, but a disk
// that does not answer does not keep the program from ending.
func Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(farewell, cancel) })
	return longer, func() { stop(); cancel() }
}

// A RetryQueue holds the records of a room itself, such as how a turn ended, that wait for the
// journal, oldest first. The zero value is empty. It is safe for concurrent use, except for Flush.
type RetryQueue struct {
	mu      lockorder.Mutex[lockorder.Leaf]
	waiting []earshot.Event
	stuck   bool // the journal accepts nothing
}

// Add adds records that are to be kept.
func (u *RetryQueue) Add(events ...earshot.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting = append(u.waiting, events...)
}

// Len returns how many records wait.
func (u *RetryQueue) Len() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.waiting)
}

// Announces reports whether an arrival or a departure waits: later ones wait behind it.
func (u *RetryQueue) Announces() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(u.waiting, Announces)
}

// Announces reports whether e says that somebody comes or goes.
func Announces(e earshot.Event) bool { return e.Body.Kind() == earshot.KindPresence }

// NextRetry returns when the records that the journal refused are tried again.
func (u *RetryQueue) NextRetry(now time.Time) time.Time {
	if u.Len() == 0 {
		return time.Time{}
	}
	return now.Add(retry)
}

// Flush gives all records to the journal, and returns those that are on record, how many of the
// oldest were dropped because too many wait, and why the journal refuses if it did not before. What
// it refuses is given to it by itself, since one record may be at fault. Records that are added
// meanwhile wait for the next time.
func (u *RetryQueue) Flush(journal func(...earshot.Event) ([]earshot.Event, error)) (kept []earshot.Event, dropped int, refused error) {
	u.mu.Lock()
	all := u.waiting
	u.waiting = nil
	u.mu.Unlock()
	if len(all) == 0 {
		return nil, 0, nil
	}
	kept, err := journal(all...)
	if err == nil {
		u.stuck = false
		return kept, 0, nil
	}
	var left []earshot.Event
	for _, e := range all {
		behind := Announces(e) && slices.ContainsFunc(left, Announces) // they stay in order
		if len(all) > 1 && !behind {
			if own, err := journal(e); err == nil {
				kept = append(kept, own...)
				continue
			}
		}
		left = append(left, e)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	left = append(left, u.waiting...)
	dropped = max(0, len(left)-maxUnsaved)
	u.waiting = left[dropped:]
	if !u.stuck {
		refused = err
	}
	u.stuck = true
	return kept, dropped, refused
}

// Among returns a function that reports whether an event is one of some, which may be very many.
func Among(some []earshot.EventID) func(earshot.EventID) bool {
	all := make(map[earshot.EventID]bool, len(some))
	for _, id := range some {
		all[id] = id != ""
	}
	return func(id earshot.EventID) bool { return all[id] }
}
