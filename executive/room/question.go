package room

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/admission"
	"earshot/executive/delivery"
	"earshot/executive/question"
	"earshot/executive/reason"
	"earshot/interrupt"
)

// outlets returns where the answer to q goes: where everybody around may see it. A written question
// is answered aloud only if that is wanted, as for a reminder, and a private one never. A spoken
// question is answered in writing too, except in a chat beside a call.
func (r *Room) outlets(q question.Question) []*delivery.Outlet {
	v := q.Message.Visibility
	places := r.notices.Outlets.Around(v)
	if v.Scope == earshot.Private || !q.Aloud && !r.set.Speech.TypedAloud {
		places = slices.DeleteFunc(places, (*delivery.Outlet).Audible)
	}
	if q.Aloud && slices.ContainsFunc(places, (*delivery.Outlet).Audible) {
		places = slices.DeleteFunc(places, (*delivery.Outlet).Written)
	}
	if q.Protected() {
		return places // everybody must hear it
	}
	who := q.Whom()
	if !q.Aloud {
		who = "" // they read where they write
	}
	return r.notices.Outlets.WithOneVoice(places, who, q.Message.Via)
}

// listeners returns everybody for whom the answer to q is, and its agent; see
// [question.Question.Audience].
func (r *Room) listeners(q question.Question) earshot.Audience {
	return q.Audience(r.cfg.ID, r.cfg.People)
}

// silenced returns the reason for which no agent speaks without being asked by a person, or nothing.
func (r *Room) silenced() string {
	switch {
	case !r.set.Enabled:
		return reason.Disabled
	case r.mode.Current() == earshot.Paused:
		return reason.OnHold
	case r.mode.Current() == earshot.OffRecord:
		return reason.Unheard
	case r.live.silent():
		return reason.Hushed
	}
	return ""
}

// supersede gives up, of the questions that wait for one agent in one conversation, all but one; see
// [question.Queue.Supersede].
func (r *Room) supersede() {
	kept, dropped := r.pending.Supersede()
	for _, q := range dropped {
		r.records.unsaved.Add(r.end(q.Question, earshot.Reply{Outcome: earshot.Suppressed, Superseded: q.By}))
		if q.By == "" {
			r.dropping("questions", 1)
		}
	}
	r.wait(kept)
}

// wait sets the questions that wait.
func (r *Room) wait(questions question.Queue) {
	r.pending = questions
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	r.live.waiting = len(r.pending)
}

// drop gives up the waiting questions that fit.
func (r *Room) drop(fits func(question.Question) bool) {
	kept, dropped := r.pending.Split(fits)
	if len(dropped) == 0 {
		return
	}
	for _, q := range dropped {
		r.giveUp(q)
	}
	r.wait(kept)
}

// overtake applies somebody's words, once they are kept, to the waiting questions. A command word
// ends all talk among agents. A person who asks an agent precedes it in the same conversation.
// Questions of others keep waiting: that the speaker was cut for this does not cut them.
func (r *Room) overtake(e *admission.Entry) {
	if e.Signal == nil {
		return
	}
	stops := e.Signal.Kind == interrupt.Command
	r.drop(func(q question.Question) bool {
		return q.Chain && (stops || len(e.Questions) > 0 && conversation.SameCircle(q.Message.Visibility, e.Event.Visibility))
	})
	for i, q := range r.pending {
		r.pending[i].Ticket = r.floor.Renew(q.Ticket, e.Ticket)
	}
}

// giveUp ends the turn of a question before it begins.
func (r *Room) giveUp(q question.Question) {
	r.records.unsaved.Add(r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
}

// end returns the event that says how the turn of q ended. It is erased with the messages from
// which it was made: the question, and others' lines of the dialogue.
func (r *Room) end(q question.Question, reply earshot.Reply) earshot.Event {
	reply.Turn, reply.About = q.Turn, q.About()
	e := r.event(q.Rests.Visibility, reply)
	e.Author = q.Seat.ID
	for _, id := range append([]earshot.ParticipantID{q.Whom()}, q.Message.Visibility.Members...) {
		p, known := r.cfg.People.Get(id) // one person may be among the members twice
		if known && p.ID != q.Seat.ID && !slices.Contains(e.To, p.ID) {
			e.To = append(e.To, p.ID)
		}
	}
	e.Sources = q.Rests.Sources
	if !slices.Contains(e.Sources, q.Message.ID) {
		e.Sources = append(e.Sources, q.Message.ID)
	}
	return e
}

// decided returns the event of an agent's decision about a question that no person has just asked.
func (r *Room) decided(q question.Question, d earshot.Decision) earshot.Event {
	e := r.event(q.Rests.Visibility, d)
	e.Author, e.Sources = q.Seat.ID, []earshot.EventID{q.Message.ID}
	return e
}

// settleMessages tells those who wait that nothing more will come to a message: no turn is live, and
// no question waits, that began with it.
func (r *Room) settleMessages() {
	live, _ := r.live.question()
	r.notices.Settle(func(message earshot.EventID) bool {
		goes := func(q question.Question) bool { return q.Origin() == message }
		return (live == nil || !goes(*live)) && !slices.ContainsFunc(r.pending, goes)
	})
}
