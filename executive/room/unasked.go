package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/attention"
	"earshot/executive/decision"
	"earshot/executive/delivery"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/remind"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
)

// newUnasked returns the tracker of what the main agent may say unasked.
func (r *Room) newUnasked() *unasked.Tracker {
	return unasked.New(unasked.Host{
		Room: r.cfg.ID, People: r.cfg.People, Scene: r.scene, Activity: &r.activity, Reminders: remind.NewSchedule(r.cfg.Agenda),
		Agent: func() earshot.ParticipantID { return r.seats[0].ID },
		Audience: func(v earshot.Visibility) earshot.Audience {
			return r.listeners(question.Question{Seat: r.seats[0], Message: earshot.Event{Visibility: v}})
		},
		Author:  func(id earshot.EventID) earshot.ParticipantID { return r.entries.Recent(id).Author },
		Absence: r.presence.Absence,
	})
}

// moment returns what a decision to speak unasked depends on now.
func (r *Room) moment() unasked.Moment {
	return unasked.Moment{
		Now: r.cfg.Now(), Settings: r.set, Answers: r.answers(), Listens: r.mode.Current().Answers(), Hushed: r.live.silent(),
		Style: r.floor.CurrentStyle(), Name: r.seats[0].Name, Lasts: r.cfg.Lasts, IsHere: r.resolver.Addressing.IsHere,
		Reaches: func(c *unasked.Candidate) bool {
			places := r.outlets(question.Question{Message: c.Event, Aloud: c.Aloud}, r.set)
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

// decided returns the event of an agent's decision about a question that no person has just asked.
func (r *Room) decided(q question.Question, d earshot.Decision) earshot.Event {
	e := r.event(q.Rests.Visibility, d)
	e.Author, e.Sources = q.Seat.ID, []earshot.EventID{q.Message.ID}
	return e
}

// settle records decisions of the room itself, and reports whether they are on record: what is not
// recorded does not happen.
func (r *Room) settle(ctx context.Context, decisions ...earshot.Event) bool {
	if len(decisions) == 0 {
		return false
	}
	_, err := r.append(ctx, decisions...)
	return err == nil
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

// overheard decides for the main agent about words that do not call it. why is the reason for which
// it would stay silent.
func (r *Room) overheard(e *admission.Entry, why string) (earshot.Verdict, []string) {
	if why != addressing.Elsewhere && why != decision.Overheard || !e.Heeded {
		return earshot.Silent, []string{why}
	}
	verdict, reasons := r.unasked.Overhear(r.moment(), unasked.Question{Event: e.Event(), Asker: e.Asker(), Rank: e.Rank(), Agents: e.Machine()})
	switch {
	case verdict != earshot.Silent:
		e.Addressees.Lost = false // it may yet be answered
		return verdict, reasons
	case slices.Equal(reasons, []string{attention.NotForMe}):
		return verdict, []string{why}
	}
	return verdict, append([]string{why}, reasons...)
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

// refused takes in that somebody does not want to hear the agent: for lasts, if they say so. It
// returns the events to record for that.
func (r *Room) refused(e *admission.Entry, lasts time.Duration) (kept []earshot.Event) {
	r.unasked.Refused(e.Event().At, e.Event().Visibility)
	if lasts == 0 {
		return nil
	}
	s := r.event(e.Event().Visibility, earshot.Snooze{Until: e.Event().At.Add(lasts)})
	s.Author, s.Sources = e.Event().Author, []earshot.EventID{e.Event().ID}
	return []earshot.Event{s}
}

// byReflex reports whether an entry is handled without a model: a command word, or a question such
// as what time it is.
func (r *Room) byReflex(e *admission.Entry) bool {
	for _, q := range e.Questions {
		if q.Want == reflex.None && q.Words == "" {
			return false
		}
	}
	return len(e.Questions) > 0 || r.speech.Listener.Cuts(admission.Words(e.Event().Body))
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
