package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/remind"
	"earshot/executive/tool"
	"earshot/participants"
)

var errNobodyReminds = errors.New("a reminder needs somebody to remind; say who you are with --identity NAME")

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

// remind answers /remind.
func (r *Room) remind(ctx context.Context, c command.Call) (string, error) {
	if c.By.ID == participants.Generic {
		return "", errNobodyReminds
	}
	args := strings.TrimSpace(string(c.Args))
	first, rest, _ := strings.Cut(args, " ")
	switch {
	case first == "":
		return r.listReminders(c), nil
	case strings.EqualFold(first, "cancel"):
		return r.cancelReminder(ctx, c, rest)
	}
	due, of, err := remind.Parse(r.cfg.Now(), args)
	if err != nil {
		return "", err
	}
	e := c.Event
	e.Author, e.Via, e.Visibility = r.agents()[0].ID, "", earshot.Visibility{Scope: earshot.Public} // the agent that will say it
	e.Body = earshot.Reminder{Act: earshot.Created, Due: due, Text: dialogue.OneLine(earshot.Text(of))}
	_, err = r.setReminder(ctx, c.By.ID, e)
	return "", err // everybody is shown it
}

// listReminders lists somebody's open reminders, as far as the readers of the answer may know them.
func (r *Room) listReminders(c command.Call) string {
	var b strings.Builder
	for _, has := range r.unasked.Reminders.Of(c.By.ID, c.Audience) {
		fmt.Fprintf(&b, "%3d  %s  %s\n", has.N, has.Due.Local().Format("Mon 2006-01-02 15:04:05"), string(has.Text))
	}
	if b.Len() == 0 {
		return "You have no reminders; /remind 10m TEXT sets one."
	}
	return strings.TrimRight(b.String(), "\n")
}

// cancelReminder gives up one of them.
func (r *Room) cancelReminder(ctx context.Context, c command.Call, number string) (string, error) {
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return "", errors.New("which reminder? Write /remind cancel N, with the number that /remind shows")
	}
	return "", r.cancel(ctx, c.By.ID, n, c.Audience, func(body earshot.Body) earshot.Event {
		e := c.Event
		e.Author, e.Via, e.Body = r.agents()[0].ID, "", body
		return e
	})
}
