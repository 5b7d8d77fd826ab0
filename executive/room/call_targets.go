package room

import (
	"context"
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/executive/prompt"
	"earshot/executive/unasked"
	"earshot/participants"
	"earshot/participants/agents"
)

// The reasons for decisions about what agents say to each other.
const (
	HandedTo  = "another agent calls me"
	Overtaken = "a person asked something in the meantime, and people go first"
	Broadcast = "every agent was asked, so their answers call nobody"
	Enough    = "the agents have reached the limit of executive.multi_party.turn_limit messages in a row"
	Again     = "the agents keep repeating themselves"
	Passing   = "an agent passes control to a person"
	Foreign   = "it calls another user's agent, which only people may do"
)

// reasons are the reasons for handing over.
var reasons = map[earshot.Why]string{earshot.TurnLimit: Enough, earshot.Repetition: Again, earshot.Passed: Passing, earshot.Apart: Foreign}

// callTargets are the participants whom a reply calls.
type callTargets struct {
	agents []*seat
	apart  bool                  // one of them belongs to another user, so none is called; see [agents.Reaches]
	person earshot.ParticipantID // for whom the agents work; called by "@human" or a handover
}

// calls determines for whom an ended reply is, besides the one whom it answers, and lets the called
// agents see it, because it passes its own words to them. A reply that was broken off, or hands
// over, calls no agent. If one of them belongs to another user, a person must look at it first, and
// none of them is called.
func (r *Room) calls(e turnResult, done *earshot.Event) (c callTargets) {
	if e.reply.Handover != nil {
		c.person = e.reply.Handover.To
		done.To = nil
	} else if e.modelRequest != nil && e.reply.Outcome == earshot.Completed {
		c = r.callees(e, *done)
	}
	if !c.apart {
		c.reaches(done)
	}
	done.To = also(done.To, c.person)
	return c
}

// reaches addresses a reply to the agents that it calls.
func (c callTargets) reaches(done *earshot.Event) {
	for _, s := range c.agents {
		done.To = also(done.To, s.ID)
		if done.Visibility.Agents != nil {
			done.Visibility.Agents = also(done.Visibility.Agents, s.ID)
		}
	}
}

// callees returns whom the words of a reply call. A reply that calls everybody calls nobody:
// answers do not spread. A private reply only calls members of its conversation.
func (r *Room) callees(e turnResult, done earshot.Event) (c callTargets) {
	names, text := r.addressing.Directory(), e.reply.Offered
	to := names.Calls(text, done.Author)
	if more := e.modelRequest.filter.Tags.Calls; len(more) > 0 {
		to = names.Calls(text[min(e.modelRequest.filter.Call.Put, len(text)):], done.Author) // the model's own call, without the one that was added
		to.To = append(to.To, names.Direct(earshot.Text("TO: "+strings.Join(more, ", ")), done.Author).To...)
	}
	for _, s := range r.seats {
		private := done.Visibility.Scope == earshot.Private && !slices.Contains(done.Visibility.Members, s.ID)
		if slices.Contains(to.To, s.ID) && s != e.question.seat && !private && !e.modelRequest.filter.Tags.Passed {
			c.agents = append(c.agents, s)
			c.apart = c.apart || agents.Reaches(e.question.seat.Record, s.Record) != nil
		}
	}
	if names.Direct(text, done.Author).People {
		c.person = r.worksFor(r.turnControl.Of(done.Visibility), done.Visibility)
	}
	return c
}

// also returns list with id in it; id may be empty.
func also(list []earshot.ParticipantID, id earshot.ParticipantID) []earshot.ParticipantID {
	if id == "" || slices.Contains(list, id) {
		return list
	}
	return append(slices.Clip(list), id)
}

// follow continues after a reply that is on record: it asks the agents that the reply calls, or
// hands over. It does not continue from a reply that could not be recorded, because nobody would
// count it, nor from one that was erased at once, which the called agents could not read.
func (r *Room) follow(ctx context.Context, e turnResult, done earshot.Event, c callTargets) {
	r.reach(c.person, done)
	switch {
	case e.modelRequest != nil && e.modelRequest.filter.Tags.Passed && e.reply.Handover == nil && e.reply.Outcome == earshot.Completed:
		r.handOver(ctx, e.question, done, earshot.Passed)
	case len(c.agents) > 0:
		r.handOn(ctx, e.question, done, c)
	}
}

// handOn asks some agents to answer what another has said, unless a reason is against it.
func (r *Room) handOn(ctx context.Context, from question, said earshot.Event, to callTargets) {
	why, against := handoverReason(r.turnControl.Of(said.Visibility), r.set.MultiParty.TurnLimit), r.against(from)
	if to.apart {
		why = earshot.Apart
	}
	if against == "" {
		against = reasons[why]
	} else {
		why = ""
	}
	var decisions []earshot.Event
	var asks []question
	for _, s := range to.agents {
		q := question{
			seat: s, message: said, chain: true, root: from.origin(), ticket: from.ticket, aloud: from.aloud, askers: from.askers,
			turn: earshot.TurnID(r.cfg.NewID()), rests: prompt.Provenance{Visibility: said.Visibility},
		}
		if against != "" {
			decisions = append(decisions, r.decision(q, earshot.Silent, against))
			continue
		}
		decisions, asks = append(decisions, r.decision(q, earshot.Speak, HandedTo)), append(asks, q)
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
func (r *Room) against(q question) string {
	if q.everybody {
		return Broadcast
	}
	if r.overtaken(q) {
		return Overtaken
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.set.Enabled:
		return Disabled
	case r.mode == earshot.Paused:
		return unasked.OnHold
	case r.mode == earshot.OffRecord:
		return Unheard
	case r.quiet:
		return Hushed
	}
	return ""
}

// overtaken reports whether a person waits for an answer in the conversation of q who has asked
// since it began: then the agents have no floor to leave.
func (r *Room) overtaken(q question) bool {
	return slices.ContainsFunc(r.pending, func(p question) bool {
		return !p.chain && p.message.ID != q.origin() && conversation.SameCircle(p.message.Visibility, q.message.Visibility)
	})
}

// excessive reports whether q must not be answered: another agent asks, or an AI from outside, and
// enough has been said. It then hands over.
func (r *Room) excessive(ctx context.Context, q question) bool {
	if !q.chain || q.handover != nil {
		return false
	}
	why := handoverReason(r.turnControl.Of(q.message.Visibility), r.set.MultiParty.TurnLimit)
	if why == "" {
		return false
	}
	r.giveUp(q)
	if !r.handOver(ctx, q, q.message, why) {
		r.unsaved.Add(r.decision(q, earshot.Silent, reasons[why]))
	}
	return true
}

// callback returns the call to put in front of the answer to q: to the agent that asks, unless the
// answering one does not want that.
func (r *Room) callback(q *question) conversation.CallPrefixer {
	c := conversation.CallPrefixer{From: q.seat.ID, Directory: r.addressing.Directory()}
	if p, _ := r.cfg.People.Get(q.message.Author); p.Type == participants.Internal && q.seat.AutoReply && !q.everybody {
		c.Name = p.Name
	}
	return c
}
