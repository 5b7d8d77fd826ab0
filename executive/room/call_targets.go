package room

import (
	"context"

	"earshot"
	"earshot/executive/decision"
	"earshot/executive/exchange"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/unasked"
)

// calls determines for whom an ended reply is, besides the one whom it answers, and addresses it to
// them. A reply that was broken off, or hands over, calls no agent.
func (r *Room) calls(e turnResult, done *earshot.Event) (c exchange.Targets) {
	if e.reply.Handover != nil {
		c.Person = e.reply.Handover.To
		done.To = nil
	} else if e.generation != nil && e.reply.Outcome == earshot.Completed {
		c = r.exchange.Targets(r.addressing.Directory(), r.seats, exchange.Reply{From: e.question.Seat, Text: e.reply.Offered, Event: *done, Filter: &e.generation.Filter})
	}
	*done = c.Address(*done)
	return c
}

// follow continues after a reply that is on record: it asks the agents that the reply calls, or
// hands over. It does not continue from a reply that could not be recorded, because nobody would
// count it, nor from one that was erased at once, which the called agents could not read.
func (r *Room) follow(ctx context.Context, e turnResult, done earshot.Event, c exchange.Targets) {
	r.reach(c.Person, done)
	switch {
	case e.generation != nil && e.generation.Filter.Tags.Passed && e.reply.Handover == nil && e.reply.Outcome == earshot.Completed:
		r.handOver(ctx, e.question, done, earshot.Passed)
	case len(c.Agents) > 0:
		r.handOn(ctx, e.question, done, c)
	}
}

// handOn asks some agents to answer what another has said, unless a reason is against it.
func (r *Room) handOn(ctx context.Context, from question.Question, said earshot.Event, to exchange.Targets) {
	why, against := r.exchange.Reason(said.Visibility, r.set.MultiParty.TurnLimit), r.against(from)
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
			Turn: earshot.TurnID(r.cfg.NewID()), Rests: prompt.Provenance{Visibility: said.Visibility},
		}
		if against != "" {
			decisions = append(decisions, r.decision(q, earshot.Silent, against))
			continue
		}
		decisions, asks = append(decisions, r.decision(q, earshot.Speak, decision.HandedTo)), append(asks, q)
	}
	if !r.settle(ctx, decisions...) {
		return
	}
	r.wait(append(r.pending, asks...))
	r.supersede()
	if why != "" {
		r.handOver(ctx, from, said, why)
	}
}

// against returns the reason against continuing with the agents that answer q, or nothing.
func (r *Room) against(q question.Question) string {
	if q.Everybody {
		return decision.Broadcast
	}
	if r.pending.Overtakes(q) {
		return decision.Overtaken
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.set.Enabled:
		return decision.Disabled
	case r.currentMode() == earshot.Paused:
		return unasked.OnHold
	case r.currentMode() == earshot.OffRecord:
		return decision.Unheard
	case r.quiet:
		return decision.Hushed
	}
	return ""
}

// excessive reports whether q must not be answered: another agent asks, or an AI from outside, and
// enough has been said. It then hands over.
func (r *Room) excessive(ctx context.Context, q question.Question) bool {
	if !q.Chain || q.Handover != nil {
		return false
	}
	why := r.exchange.Reason(q.Message.Visibility, r.set.MultiParty.TurnLimit)
	if why == "" {
		return false
	}
	r.giveUp(q)
	if !r.handOver(ctx, q, q.Message, why) {
		r.unsaved.Add(r.decision(q, earshot.Silent, exchange.DecisionReason(why)))
	}
	return true
}
