package remind

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
)

// A Recorder sets and gives up reminders on record.
type Recorder struct {
	*Schedule
	Keep  func(context.Context, earshot.Event) error // on record, or why not
	Nudge func()                                     // wakes whoever looks at the clock
	Now   func() time.Time
}

// Set records a reminder for somebody; e is the event that records it, but for whom it is.
func (r Recorder) Set(ctx context.Context, who earshot.ParticipantID, e earshot.Event) (Reminder, error) {
	e.To = []earshot.ParticipantID{who}
	is := e.Body.(earshot.Reminder)
	if err := r.Check(r.Now(), who, is.Due, is.Text); err != nil {
		return Reminder{}, err
	}
	if err := r.Keep(ctx, e); err != nil {
		return Reminder{}, err
	}
	r.Nudge()
	if set, ok := r.SetBy(who, e.ID); ok {
		return set, nil
	}
	return Reminder{For: who, Due: is.Due, Text: is.Text}, nil // it was said already
}

// Cancel gives up a reminder of somebody, by its number among those that everybody in a may know.
// event makes the event that records it.
func (r Recorder) Cancel(ctx context.Context, who earshot.ParticipantID, n int, a earshot.Audience, event func(earshot.Body) earshot.Event) error {
	all := r.Of(who, a)
	i := slices.IndexFunc(all, func(has Reminder) bool { return has.N == n })
	if i < 0 {
		return fmt.Errorf("there is no reminder %d; list them to see their numbers", n)
	}
	e := event(earshot.Reminder{Act: earshot.Ended, Of: all[i].Event.ID, Due: all[i].Due, Text: all[i].Text})
	e.To, e.Visibility = []earshot.ParticipantID{who}, all[i].Event.Visibility
	if !slices.Contains(e.Sources, all[i].Event.ID) {
		e.Sources = append(e.Sources, all[i].Event.ID)
	}
	return r.Keep(ctx, e)
}
