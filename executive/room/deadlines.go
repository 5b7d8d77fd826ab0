package room

import (
	"context"
	"time"
)

// A deadline is something that the room does at a certain time, not in response to an event.
type deadline struct {
	// next returns when it is due, or the zero time if it is not. Run asks in each pass, so what it
	// depends on may change at any time; whoever changes that from another goroutine wakes Run.
	next func(*Room) time.Time

	// do is called then. If nil, the work is done in what follows each pass of Run.
	do func(*Room, context.Context)
}

// deadlines lists all of them.
var deadlines = [...]deadline{
	{func(r *Room) time.Time { return r.records.unsaved.NextRetry(r.cfg.Now()) }, func(r *Room, ctx context.Context) { r.keep(ctx) }},
	{func(r *Room) time.Time { return r.arrivals.Next() }, (*Room).announce},
	{func(r *Room) time.Time { return r.notices.Faults.Next() }, (*Room).announceRecoveries},
	{func(r *Room) time.Time { return r.speech.Presence.NextExpiry() }, func(r *Room, _ context.Context) { r.speech.ExpirePresence() }},
	{(*Room).nextSleep, (*Room).sleepIdle},
	{(*Room).nextGrant, (*Room).grantWaiting},
	{func(r *Room) time.Time { return r.floor.ExpireVoices(r.cfg.Now()) }, func(r *Room, _ context.Context) { r.floor.ExpireVoices(r.cfg.Now()) }},
	{(*Room).nextUnanswered, nil},
	{func(r *Room) time.Time { return r.lost.Next(r.cfg.Now()) }, nil},
	{(*Room).nextUnasked, func(r *Room, _ context.Context) { r.unasked.Rechecked(r.cfg.Now()) }},
	{(*Room).nextThought, (*Room).weighNovelty},
	{(*Room).nextQuiet, nil},
	{func(r *Room) time.Time { return r.activity.NextTypingExpiry() }, (*Room).abandonStaleLines},
	{func(r *Room) time.Time { return r.speech.Interims.NextExpiry() }, func(r *Room, _ context.Context) { r.speech.ExpireWords() }},
	{func(r *Room) time.Time { return r.speech.NextCutExpiry() }, func(r *Room, _ context.Context) { r.speech.ExpireCuts() }},
}

// An alarmClock waits for the first of the deadlines.
type alarmClock struct {
	*time.Timer
	at [len(deadlines)]time.Time
}

// set sets the clock to the first deadline of a room, or stops it if there is none.
func (c *alarmClock) set(r *Room) {
	var first time.Time
	for i, d := range deadlines {
		c.at[i] = d.next(r)
		if at := c.at[i]; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		c.Stop()
		return
	}
	c.Reset(first.Sub(r.cfg.Now()))
}

// ring does what is due.
func (c *alarmClock) ring(ctx context.Context, r *Room) {
	now := r.cfg.Now()
	for i, d := range deadlines {
		if at := c.at[i]; d.do != nil && !at.IsZero() && !at.After(now) {
			d.do(r, ctx)
		}
	}
}
