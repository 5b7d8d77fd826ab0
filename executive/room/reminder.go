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
	"earshot/executive/prompt"
	"earshot/executive/remind"
	"earshot/executive/tool"
	"earshot/interrupt"
	"earshot/participants"
)

const (
	// mostWait is how long the room sleeps at most while there are reminders, because the clock may
	// have been set, and the machine may have slept.
	mostWait = time.Minute

	// soon is how long a due reminder is delayed while somebody is about to ask something.
	soon = 100 * time.Millisecond

	// again is when an unheard reminder is tried again.
	again = time.Minute

	// late is how late a reminder may be without saying when it was due.
	late = time.Minute
)

var errNobodyReminds = errors.New("a reminder needs somebody to remind; say who you are with --identity NAME")

// Set implements [tool.Agenda]. The reminder is for the person whose question is answered.
func (p *toolContext) Set(ctx context.Context, s tool.Scope, due time.Time, text earshot.Text) (remind.Reminder, error) {
	return p.room.setReminder(ctx, s.Askers[0].ID, p.event(earshot.Reminder{Act: earshot.Created, Due: due, Text: dialogue.OneLine(text)}))
}

// Reminders implements [tool.Agenda]. It returns those that everybody who hears the answer may
// know.
func (p *toolContext) Reminders(s tool.Scope) []remind.Reminder {
	return p.room.reminders(s.Askers[0].ID, s.Audience)
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
	r.mu.Lock()
	err := r.agenda.Check(r.cfg.Now(), who, is.Due, is.Text)
	r.mu.Unlock()
	if err != nil {
		return remind.Reminder{}, err
	}
	if err := r.queued(ctx, e); err != nil {
		return remind.Reminder{}, err
	}
	r.nudge() // to look at the clock
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.agenda.Of(who)
	if i := slices.IndexFunc(all, func(had remind.Reminder) bool { return had.Event.ID == e.ID }); i >= 0 {
		return all[i], nil
	}
	return remind.Reminder{For: who, Due: is.Due, Text: is.Text}, nil // it was said already
}

// reminders returns somebody's reminders that everybody in a may know.
func (r *Room) reminders(who earshot.ParticipantID, a earshot.Audience) []remind.Reminder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(r.agenda.Of(who), func(has remind.Reminder) bool { return !has.Event.Visibility.Allows(a) })
}

// cancel gives up a reminder of somebody. event makes the event that records it.
func (r *Room) cancel(ctx context.Context, who earshot.ParticipantID, n int, a earshot.Audience, event func(earshot.Body) earshot.Event) error {
	all := r.reminders(who, a)
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
	for _, has := range r.reminders(c.By.ID, c.Audience) {
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

// nextReminderCheck returns when to check whether a reminder may be said; the zero time if there is
// none that reaches anybody.
func (r *Room) nextReminderCheck() time.Time {
	at := r.nextReminder()
	if at.IsZero() || r.speaking() || !r.answers() {
		return time.Time{} // it is looked at when that is over
	}
	now := r.cfg.Now()
	return now.Add(min(max(at.Sub(now), soon), mostWait))
}

// reaches reports whether somebody hears or can read what is said here now.
func (r *Room) reaches(who earshot.ParticipantID) bool {
	return r.cfg.Lasts || r.addressing.IsHere(who)
}

// nextReminder returns when the first reminder that reaches its person may be said.
func (r *Room) nextReminder() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agenda.Next(func(has remind.Reminder) time.Time {
		tried := r.tried[has.Event.ID]
		switch {
		case !(participants.OfVoice(r.person(has.For)) || r.reaches(r.person(has.For))):
			return time.Time{}
		case tried.After(has.Due):
			return tried
		}
		return has.Due
	})
}

// answers reports whether the room answers anybody.
func (r *Room) answers() bool { return r.cfg.Settings().Enabled && r.is().Answers() }

// due returns the reminder to say now, as a question without an asker: one that reaches its person.
// A reminder that nobody heard waits.
func (r *Room) due(ctx context.Context, since interrupt.Ticket) (question, bool) {
	for _, has := range r.dueReminders() {
		if !r.answers() {
			break
		}
		q := r.reminder(has, since)
		if len(r.outlets(q, r.set)) > 0 && r.settle(ctx, r.decision(q, earshot.Speak, Due)) {
			return q, true
		}
		r.postpone(has.Event.ID)
	}
	return question{}, false
}

// dueReminders returns the reminders that may be said now.
func (r *Room) dueReminders() []remind.Reminder {
	now := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agenda.Due(now, func(has remind.Reminder) bool {
		return !r.tried[has.Event.ID].After(now) && r.reaches(has.For)
	})
}

// reminder returns the turn that says a reminder, in the name of the agent that set it, or else the
// main one. It is said aloud if the person is here to hear it.
func (r *Room) reminder(has remind.Reminder, since interrupt.Ticket) question {
	s := r.seatOf(has.Event.Author)
	if s == nil || !sees(has.Event.Visibility, s.ID) {
		s = r.seats[0]
	}
	return question{
		seat: s, message: has.Event, ticket: since, turn: earshot.TurnID(r.cfg.NewID()), aloud: r.addressing.IsHere(has.For),
		remind: &has, words: r.reminds(has), rests: prompt.Provenance{Visibility: has.Event.Visibility},
	}
}

// reminds returns the text that is said, in the program's words. Somebody who may not be looking is
// called.
func (r *Room) reminds(has remind.Reminder) string {
	who := r.cfg.People.Name(has.For)
	if r.cfg.Lasts {
		who = "@" + who
	}
	text := fmt.Sprintf("%s, you wanted to be reminded: %s", who, string(has.Text))
	if now := r.cfg.Now(); now.Sub(has.Due) > late {
		when := has.Due.Local().Format("15:04")
		if now.Sub(has.Due) > 12*time.Hour {
			when = has.Due.Local().Format("Monday, 2 January, 15:04")
		}
		text = fmt.Sprintf("%s, you wanted to be reminded at %s: %s", who, when, string(has.Text))
	}
	return text
}

// reminded notes how the turn of a reminder ended: if anything of it was heard, the reminder is
// over, which is recorded in one step with the reply. Otherwise it is tried again.
func (r *Room) reminded(q question, reply earshot.Reply) {
	if reply.Delivered() == "" {
		r.postpone(q.remind.Event.ID)
		return
	}
	e := r.event(q.remind.Event.Visibility, earshot.Reminder{Act: earshot.Fired, Of: q.remind.Event.ID, Due: q.remind.Due, Text: q.remind.Text})
	e.Author, e.To, e.Sources = q.seat.ID, []earshot.ParticipantID{q.remind.For}, []earshot.EventID{q.remind.Event.ID}
	r.unsaved = append(r.unsaved, e)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agenda.Apply(e) // also while the disk is full
}

// postpone makes a reminder wait before it is tried again.
func (r *Room) postpone(id earshot.EventID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried == nil {
		r.tried = make(map[earshot.EventID]time.Time)
	}
	r.tried[id] = r.cfg.Now().Add(again)
}
