// Package chain continues the talk of agents with each other: a reply that calls another agent is
// answered by it, until they have said enough, or pass, or a person wants the floor. Then one of them
// hands it over.
package chain

import (
	"context"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reason"
	"earshot/executive/record"
	"earshot/executive/seat"
	"earshot/interrupt"
	"earshot/participants"
)

// A Host is the room of a [Chain]. All fields are required unless they say otherwise.
type Host struct {
	Room       earshot.RoomID
	People     *participants.Registry
	Tracker    *exchange.Tracker
	Addressing *addressing.Resolver
	Floor      *interrupt.Floor

	Seats   func() []*seat.Seat
	Pending func() question.Queue        // the questions that wait
	Limit   func() int                   // of the replies of agents to each other
	Against func() string                // the reason for which agents are silent now, or nothing
	Reaches func(question.Question) bool // whether the answer to a question comes out anywhere
	NewID   func() earshot.EventID

	// Event returns the event of a decision about a question.
	Event func(question.Question, earshot.Decision) earshot.Event

	// Settle records decisions, and reports whether they are on record: what is not recorded does not
	// happen.
	Settle func(context.Context, ...earshot.Event) bool

	Record func(...earshot.Event)                  // records events when the journal accepts them
	Ask    func(...question.Question)              // makes questions wait
	Narrow func()                                  // gives up questions beside which others wait
	Drop   func(fits func(question.Question) bool) // gives up the waiting questions that fit
	GiveUp func(question.Question)                 // gives up a question that does not wait

	// Reach shows an event to somebody for whom the agents work and who is absent. May be nil.
	Reach func(earshot.ParticipantID, earshot.Event)
}

// A Chain continues the talk of the agents of one room. It belongs to the owner of the room.
type Chain struct {
	Host

	// Overdue are the last words of a run before this one after which agents may still have to hand
	// over.
	Overdue []record.LastWord
}

// A Result is how the answer to a question ended.
type Result struct {
	Question   question.Question
	Reply      earshot.Reply
	Generation *generation.Request // nil if no model was asked
}

// Handover returns how a reply leaves the floor to a person, or nil if it does not.
func (r *Result) Handover() *earshot.Handover {
	if r.Generation != nil && r.Generation.Passed {
		return &earshot.Handover{Why: earshot.Passed, To: r.Generation.To}
	}
	return r.Question.Handover
}

// Targets determines for whom a reply is, besides the one whom it answers, and addresses its event to
// them. A reply that was broken off, or hands over, calls no agent.
func (c *Chain) Targets(r *Result, done *earshot.Event) (t exchange.Targets) {
	if r.Reply.Handover != nil {
		t.Person = r.Reply.Handover.To
		done.To = nil
	} else if r.Generation != nil && r.Reply.Outcome == earshot.Completed {
		t = c.Tracker.Targets(c.Addressing.Directory(), c.Seats(), exchange.Reply{From: r.Question.Seat, Text: r.Reply.Offered, Event: *done, Filter: &r.Generation.Filter})
	}
	*done = t.Address(*done)
	return t
}

// Follow continues after a reply that is on record: it asks the agents that the reply calls, or
// hands over. It must not be called for a reply that could not be recorded, because nobody would
// count it, nor for one that was erased at once, which the called agents could not read.
func (c *Chain) Follow(ctx context.Context, r *Result, done earshot.Event, t exchange.Targets) {
	c.reach(t.Person, done)
	switch {
	case r.Generation != nil && r.Generation.Filter.Tags.Passed && r.Reply.Handover == nil && r.Reply.Outcome == earshot.Completed:
		c.handOver(ctx, r.Question, done, earshot.Passed)
	case len(t.Agents) > 0:
		c.ask(ctx, r.Question, done, t)
	}
}

// reach shows an event to somebody for whom it is and who is not in this room, wherever they are.
func (c *Chain) reach(who earshot.ParticipantID, e earshot.Event) {
	if who != "" && c.Reach != nil && !addressing.IsAmong(c.People.Here(c.Room), who) {
		c.Reach(who, e)
	}
}

// ask asks some agents to answer what another has said, unless a reason is against it.
func (c *Chain) ask(ctx context.Context, from question.Question, said earshot.Event, to exchange.Targets) {
	why, against := c.Tracker.Reason(said.Visibility, c.Limit()), c.against(from)
	if to.Apart {
		why = earshot.Apart
	}
	if against == "" {
		against = exchange.DecisionReason(why)
	} else {
		why = ""
	}
	var decisions []earshot.Event
	var asks []question.Question
	for _, s := range to.Agents {
		q := question.Question{
			Seat: s, Message: said, Chain: true, Root: from.Origin(), Ticket: from.Ticket, Aloud: from.Aloud, Askers: from.Askers,
			Turn: earshot.TurnID(c.NewID()), Rests: prompt.Provenance{Visibility: said.Visibility},
		}
		if against != "" {
			decisions = append(decisions, c.Event(q, q.Decision(earshot.Silent, against)))
			continue
		}
		decisions, asks = append(decisions, c.Event(q, q.Decision(earshot.Speak, reason.HandedTo))), append(asks, q)
	}
	if !c.Settle(ctx, decisions...) {
		return
	}
	c.Ask(asks...)
	c.Narrow()
	if why != "" {
		c.handOver(ctx, from, said, why)
	}
}

// against returns the reason against continuing with the agents that answer q, or nothing.
func (c *Chain) against(q question.Question) string {
	if q.Everybody {
		return reason.Broadcast
	}
	if c.Pending().Overtakes(q) {
		return reason.Overtaken
	}
	return c.Against()
}

// Excessive reports whether q must not be answered: another agent asks, or an AI from outside, and
// enough has been said. It then hands over.
func (c *Chain) Excessive(ctx context.Context, q question.Question) bool {
	if !q.Chain || q.Handover != nil {
		return false
	}
	why := c.Tracker.Reason(q.Message.Visibility, c.Limit())
	if why == "" {
		return false
	}
	c.GiveUp(q)
	if !c.handOver(ctx, q, q.Message, why) {
		c.Record(c.Event(q, q.Decision(earshot.Silent, exchange.DecisionReason(why))))
	}
	return true
}

// handOver makes the agents of a conversation leave the floor to a person, after what one of them
// has said: by one reply, in the name of the one that spoke last. Whatever they had still to say to
// each other is given up. They do so once: nothing happens if they have already, if a person has
// the floor next anyway, or if the journal accepts nothing. It reports whether they will.
func (c *Chain) handOver(ctx context.Context, after question.Question, last earshot.Event, why earshot.Why) bool {
	b := c.Tracker.Of(last.Visibility)
	if b.Over || c.Pending().Overtakes(after) {
		return false
	}
	c.Drop(func(q question.Question) bool {
		return q.Chain && conversation.SameCircle(q.Message.Visibility, last.Visibility)
	})
	h := &earshot.Handover{Why: why, To: c.Tracker.WorksFor(last.Visibility)}
	q := question.Question{
		Seat: after.Seat, Message: last, Chain: true, Root: after.Origin(), Ticket: after.Ticket, Aloud: after.Aloud,
		Turn: earshot.TurnID(c.NewID()), Rests: prompt.Provenance{Visibility: last.Visibility},
		Handover: h, Words: c.Tracker.Parting(h, after.Seat.Name, b.Count, c.Limit()),
	}
	if s := seat.Find(c.Seats(), b.Last); s != nil {
		q.Seat = s
	}
	if !c.Settle(ctx, c.Event(q, q.Decision(earshot.Speak, exchange.DecisionReason(why)))) {
		return false
	}
	c.Ask(q)
	return true
}

// HandOverOverdue makes agents hand over that should have done so before the program began: one
// called another, and enough had been said. It waits until somebody is there to be told.
func (c *Chain) HandOverOverdue(ctx context.Context) {
	c.Overdue = slices.DeleteFunc(c.Overdue, func(l record.LastWord) bool {
		why := c.Tracker.Reason(l.Said.Visibility, c.Limit())
		q := question.Question{Seat: seat.Find(c.Seats(), l.Said.Author), Message: l.Said, Chain: true, Ticket: c.Floor.Ticket()}
		switch {
		case why == "" || q.Seat == nil || c.against(q) != "" || !c.called(l):
			return true
		case !c.Reaches(q):
			return false
		}
		c.handOver(ctx, q, l.Said, why)
		return true
	})
}

// called reports whether the last word called an agent of the room. A call by a tag is not in its
// text, but in its addressees.
func (c *Chain) called(l record.LastWord) bool {
	to := c.Addressing.Directory().Calls(l.Said.Body.(earshot.Reply).Offered, l.Said.Author).To
	for _, id := range l.Said.To {
		if id != l.To && l.Said.Visibility.Scope != earshot.Private { // a private reply is for everybody in it
			to = append(to, id)
		}
	}
	return slices.ContainsFunc(c.Seats(), func(s *seat.Seat) bool {
		return s.ID != l.Said.Author && l.Said.Visibility.AllowsAgent(s.ID) && slices.Contains(to, s.ID)
	})
}

// Forget forgets what rests on erased events.
func (c *Chain) Forget(is func(earshot.EventID) bool) {
	c.Overdue = slices.DeleteFunc(c.Overdue, func(l record.LastWord) bool { return is(l.Said.ID) })
}
