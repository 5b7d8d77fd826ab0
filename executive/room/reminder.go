package room

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/remind"
	"earshot/executive/tool"
	"earshot/participants"
)

// Set implements [tool.Agenda]. The reminder is for the person whose question is answered.
func (p *toolContext) Set(ctx context.Context, s tool.Scope, due time.Time, text earshot.Text) (remind.Reminder, error) {
	return p.room.setReminder(ctx, s.Askers[0].ID, p.event(earshot.Reminder{Act: earshot.Created, Due: due, Text: dialogue.OneLine(text)}))
}

// Reminders implements [tool.Agenda]. It returns those that everybody who hears the answer may
// know.
func (p *toolContext) Reminders(s tool.Scope) []remind.Reminder {
	return p.room.unasked.Reminders.Of(s.Askers[0].ID, s.Audience)
}

// Cancel implements [tool.Agenda]. If several people ask, nobody can tell which of them means it.
func (p *toolContext) Cancel(ctx context.Context, s tool.Scope, n int) error {
	who := s.Askers[0]
	if slices.ContainsFunc(s.Askers, func(other participants.Participant) bool { return other.ID != who.ID }) {
		return tool.Refuse("several people are asking at once, and only its owner can cancel a reminder; tell %s to write /remind cancel %d, or to ask again", who.Name, n)
	}
	return p.room.cancel(ctx, who.ID, n, s.Audience, p.event)
}

// setReminder records a reminder for somebody.
func (r *Room) setReminder(ctx context.Context, who earshot.ParticipantID, e earshot.Event) (remind.Reminder, error) {
	e.To = []earshot.ParticipantID{who}
	is := e.Body.(earshot.Reminder)
	if err := r.unasked.Reminders.Check(r.cfg.Now(), who, is.Due, is.Text); err != nil {
		return remind.Reminder{}, err
	}
	if err := r.queued(ctx, e); err != nil {
		return remind.Reminder{}, err
	}
	r.nudge() // to look at the clock
	if set, ok := r.unasked.Reminders.SetBy(who, e.ID); ok {
		return set, nil
	}
	return remind.Reminder{For: who, Due: is.Due, Text: is.Text}, nil // it was said already
}

// cancel gives up a reminder of somebody. event makes the event that records it.
func (r *Room) cancel(ctx context.Context, who earshot.ParticipantID, n int, a earshot.Audience, event func(earshot.Body) earshot.Event) error {
	all := r.unasked.Reminders.Of(who, a)
	i := slices.IndexFunc(all, func(has remind.Reminder) bool { return has.N == n })
	if i < 0 {
		return fmt.Errorf("there is no reminder %d; list them to see their numbers", n)
	}
	e := event(earshot.Reminder{Act: earshot.Ended, Of: all[i].Event.ID, Due: all[i].Due, Text: all[i].Text})
	e.To, e.Visibility = []earshot.ParticipantID{who}, all[i].Event.Visibility
	if !slices.Contains(e.Sources, all[i].Event.ID) {
		e.Sources = append(e.Sources, all[i].Event.ID)
	}
	return r.queued(ctx, e)
}
