package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/delivery"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
)

// moment returns what a decision to speak unasked depends on now.
func (r *Room) moment() unasked.Moment {
	return unasked.Moment{
		Now: r.cfg.Now(), Settings: r.set, Answers: r.answers(), Listens: r.mode.Current().Answers(), Hushed: r.live.silent(),
		Style: r.floor.CurrentStyle(), Name: r.seats[0].Name, Lasts: r.cfg.Lasts, IsHere: r.resolver.Addressing.IsHere,
		Reaches: func(c *unasked.Candidate) bool {
			places := r.outlets(question.Question{Message: c.Event, Aloud: c.Aloud})
			return len(places) > 0 && (c.Kind != unasked.VoiceNotice || slices.ContainsFunc(places, (*delivery.Outlet).Audible))
		},
	}
}

// answers reports whether the room answers anybody.
func (r *Room) answers() bool { return r.set.Enabled && r.mode.Current().Answers() }

// chooseUnasked returns what the agent says now although nobody has just asked, as a question
// without an asker. next returns the decisions, which are put on record.
func (r *Room) chooseUnasked(ctx context.Context, since interrupt.Ticket, next func(*unasked.Tracker, unasked.Moment) (unasked.Decision, bool)) (question.Question, bool) {
	for {
		m := r.moment()
		d, ok := next(r.unasked, m)
		if !ok {
			return question.Question{}, false
		}
		q := r.questionOf(d.Candidate, since)
		if !r.settle(ctx, r.decided(q, q.Decision(d.Verdict, d.Reasons...))) {
			return question.Question{}, false // the disk is full
		}
		r.unasked.Apply(d, m.Now)
		if d.Verdict == earshot.Speak {
			return q, true
		}
	}
}

// questionOf returns the turn in which a candidate is said.
func (r *Room) questionOf(c *unasked.Candidate, since interrupt.Ticket) question.Question {
	s := r.seatOf(c.Agent)
	if s == nil || !c.Event.Visibility.AllowsAgent(s.ID) {
		s = r.seats[0]
	}
	q := question.Question{
		Seat: s, Message: c.Event, Ticket: since, Turn: earshot.TurnID(r.cfg.NewID()), Aloud: c.Aloud,
		Candidate: c, Words: c.Words, Rests: prompt.Provenance{Visibility: c.Event.Visibility},
	}
	switch {
	case c.Kind == unasked.VoiceNotice:
		q.Ticket = r.floor.Ticket()
		q.Rests = q.Rests.With(c.Event.ID)
	case c.Kind == unasked.Greeting && !r.modelWorks(s):
		q.Words = reflex.Greeting(r.cfg.Now())
	}
	return q
}

// saidUnasked notes how a turn ended that nobody had asked for, or not just now, including one that
// was cut before it began. That a reminder was heard is recorded in one step with the reply.
func (r *Room) saidUnasked(q question.Question, reply earshot.Reply) {
	c := q.Candidate
	if (q.ToRoom || c.Optional()) && reply.Cut != nil && reply.Cut.Signal == interrupt.Command.String() {
		r.unasked.Refused(r.cfg.Now(), q.Rests.Visibility)
	}
	if c == nil {
		return
	}
	heard := reply.Delivered() != ""
	r.unasked.Ended(c, heard, r.cfg.Now())
	if c.Kind == unasked.Reminder && heard {
		e := r.event(c.Event.Visibility, earshot.Reminder{Act: earshot.Fired, Of: c.Event.ID, Due: c.Reminder.Due, Text: c.Reminder.Text})
		e.Author, e.To, e.Sources = q.Seat.ID, []earshot.ParticipantID{c.Whom}, []earshot.EventID{c.Event.ID}
		r.records.unsaved.Add(e)
		r.unasked.Reminders.Apply(e) // also while the disk is full
	}
}

// recheckQuestion checks the open question to the room, if there is one.
func (r *Room) recheckQuestion(ctx context.Context) {
	since := r.floor.Ticket() // before it is checked whether anybody is answered at all
	if r.live.busy() || len(r.pending) > 0 {
		return
	}
	m := r.moment()
	open, verdict, why := r.unasked.Open(m)
	if open == nil {
		return
	}
	q := question.Question{
		Seat: r.seats[0], Message: open.Event, Rank: open.Rank, Ticket: since, Turn: earshot.TurnID(r.cfg.NewID()),
		Askers: []participants.Participant{open.Asker}, Rests: prompt.Provenance{Visibility: open.Event.Visibility}, ToRoom: true,
		Chain: open.Agents, Aloud: open.Event.Body.Kind() == earshot.KindUtterance,
	}
	if r.settle(ctx, r.decided(q, q.Decision(verdict, why...))) && verdict == earshot.Speak {
		r.unasked.Speaks(m.Now, open.Event.Visibility)
		r.wait(append(r.pending, q))
	}
}

// nextUnasked returns when what waits to be said unasked is checked again; the zero time if that
// only follows from events.
func (r *Room) nextUnasked() time.Time {
	if r.live.busy() || !r.answers() {
		return time.Time{} // it is checked when that is over
	}
	at, reminder := r.unasked.Recheck(), r.unasked.NextReminder(r.moment())
	if at.IsZero() || !reminder.IsZero() && reminder.Before(at) {
		return reminder
	}
	return at
}

// nextThought returns when recent events should be weighed; the zero time while there are none.
func (r *Room) nextThought() time.Time {
	if set := r.set.Parallel; !set.Enabled || !set.ReasoningContinuous || !r.mind.Enabled() {
		return time.Time{}
	}
	return r.unasked.NextThought(r.set.UpdateInterval.Duration())
}

// weighNovelty makes the mind think about recent events, if they are new enough.
func (r *Room) weighNovelty(context.Context) {
	if cause, about, worth := r.unasked.Weigh(r.cfg.Now()); worth {
		r.mind.Wonder(cause, about, "")
	}
}
