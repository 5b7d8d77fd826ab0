package room

import (
	"context"

	"earshot"
	"earshot/executive/activity"
	"earshot/interrupt"
)

// abandonStaleLines releases what waits for a line that somebody has left half typed: it counts as
// empty until the next key.
func (r *Room) abandonStaleLines(context.Context) {
	now := r.cfg.Now()
	r.activity.ExpireTyping(now, func(at activity.Terminal) {
		r.heed(&r.set, &interrupt.Signal{Kind: interrupt.Over, From: at.Who, Via: at.Via, Confidence: 1, At: now})
		r.setUserState(earshot.Event{From: at.Who, At: now}, r.cfg.People.Resolve(at.Who), "here")
	})
}
