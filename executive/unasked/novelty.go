package unasked

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/participants"
)

// minAbsence is how long somebody who is here may go unnoticed now and then.
const minAbsence = 10 * time.Second

// SetRoutine says which of the events that are being recorded are answered by a reflex. Such events
// are never new.
func (t *Tracker) SetRoutine(events []earshot.EventID) { t.routine = events }

// noteNovelty takes in an event, if it may be new and everybody may know it. What agents say is
// never new to them.
func (t *Tracker) noteNovelty(e earshot.Event) {
	o := attention.Occurrence{At: e.At, Who: string(t.People.Current(e.Author))}
	switch body := e.Body.(type) {
	case earshot.Message:
		o.Text = body.Text
	case earshot.Utterance:
		o.Text = body.Text
	case earshot.Memo:
		o.Text = body.Text
	case earshot.Edit:
		o.What, o.Text = body.Field, body.Text
	case earshot.Sight:
		if !t.notable(&o, e, body) {
			return
		}
	default:
		return
	}
	if p, _ := t.People.Get(e.Author); p.Type == participants.Internal || !public(e) || slices.Contains(t.routine, e.ID) {
		return
	}
	if o.Who == "" && e.Body.Kind() != earshot.KindSight { // cameras name nobody
		o.Who = e.From.Provider + ":" + e.From.ID
	}
	t.novelty.Take(o)
	t.latest = e.ID
}

// notable reports whether a sight may be new: somebody who comes, something held up, or a changed
// picture. Somebody who comes back within a moment does not count as having left.
func (t *Tracker) notable(o *attention.Occurrence, e earshot.Event, s earshot.Sight) bool {
	o.Who = ""
	switch s.What {
	case earshot.PeopleChanged:
		o.What, o.Absence = "arrival", t.Absence(e.At)
		return s.People > s.Were && (s.Were > 0 || o.Absence >= minAbsence)
	case earshot.CodeRead, earshot.Captioned:
		o.What, o.Text = string(s.What), s.Text
		return true
	}
	o.What = string(s.What)
	return s.What == earshot.SceneChanged
}

// NextThought returns when recent events should be weighed, at most once in each interval; the zero
// time if there are none.
func (t *Tracker) NextThought(interval time.Duration) time.Time {
	t.novelty.Every = interval
	return t.novelty.Next()
}

// Weigh reports whether recent events are new enough for a thought, why, and which is the newest.
func (t *Tracker) Weigh(now time.Time) (cause earshot.Cause, about earshot.EventID, worth bool) {
	if cause, worth = t.novelty.Weigh(now); worth {
		t.novelty.Thinks()
	}
	return cause, t.latest, worth
}
