package replay

import (
	"time"

	"earshot"
)

// A step is one event of the day, and when its turn comes.
type step struct {
	at    time.Time
	event earshot.Event
}

// Of a reply that does not say how long it took, it is taken to have taken so long a byte:
// as fast as people read what appears, and as a voice speaks.
const (
	shown  = 15 * time.Millisecond
	spoken = 65 * time.Millisecond
)

// arrange returns when each event of a day is performed: in their order, and never before
// what came before.
func arrange(events []earshot.Event) []step {
	decided := make(map[earshot.EventID]time.Time) // when that was first decided about
	for _, e := range events {
		if d, ok := e.Body.(earshot.Decision); ok {
			if _, had := decided[d.About]; !had {
				decided[d.About] = e.At
			}
		}
	}
	plan := make([]step, len(events))
	var last time.Time
	for i, e := range events {
		at, guessed := happened(e)
		if when, ok := decided[e.ID]; ok && comesIn(e) {
			at, guessed = later(at, when), false
		}
		if guessed && i+1 < len(events) {
			if next, _ := happened(events[i+1]); next.Before(at) {
				at = next
			}
		}
		last = later(last, at)
		plan[i] = step{last, e}
	}
	return plan
}

// happened returns when an event was put on record, as far as it tells, or as can be
// guessed.
func happened(e earshot.Event) (at time.Time, guessed bool) {
	switch b := e.Body.(type) {
	case earshot.Utterance:
		return e.At.Add(b.Lasted), false
	case earshot.Reply:
		switch {
		case b.Took > 0:
			return e.At.Add(b.Took), false
		case b.Cut != nil:
			return later(e.At, b.Cut.At), false
		}
		return e.At.Add(lasts(b)), b.Offered != ""
	case earshot.Thought:
		if b.Took == 0 && b.Cut != nil {
			return later(e.At, b.Cut.At), false
		}
		return e.At.Add(b.Took), false
	}
	return e.At, false
}

// lasts returns how long a reply may have taken.
func lasts(r earshot.Reply) (d time.Duration) {
	for _, h := range r.Heard {
		a := shown
		if h.Outlet == loudspeaker {
			a = spoken
		}
		d = max(d, time.Duration(h.Bytes)*a)
	}
	return d
}

// comesIn reports whether e is something that somebody wrote or said.
func comesIn(e earshot.Event) bool {
	switch b := e.Body.(type) {
	case earshot.Message:
		return b.Turn == ""
	case earshot.Utterance:
		return true
	case earshot.Sight:
		return b.What != earshot.Captioned
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
