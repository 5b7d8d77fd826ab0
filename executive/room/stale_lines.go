package room

import (
	"time"

	"earshot"
	"earshot/interrupt"
)

// abandonTimer returns a channel that fires when somebody may have left a half-typed line, nil if
// nobody types.
func (r *Room) abandonTimer() <-chan time.Time {
	at := r.activity.leaving()
	if at.IsZero() {
		return nil
	}
	return time.After(max(0, at.Sub(r.cfg.Now())))
}

// abandonStaleLines releases what waits for a line that somebody has left half typed: it counts as
// empty until the next key.
func (r *Room) abandonStaleLines() {
	now := r.cfg.Now()
	r.activity.left(now, func(at terminal) {
		r.heed(&interrupt.Signal{Kind: interrupt.Over, From: at.who, Via: at.via, Confidence: 1, At: now})
		r.userIs(earshot.Event{From: at.who, At: now}, r.cfg.People.Resolve(at.who), "here")
	})
}
