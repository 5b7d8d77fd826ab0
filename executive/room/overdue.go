package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/question"
	"earshot/executive/seat"
)

// A lastWord is what an agent said last in a conversation before the program began, and whom it
// answered.
type lastWord struct {
	said earshot.Event
	to   earshot.ParticipantID
}

// overdue returns the last words of the conversations in which an agent spoke last: the program may
// have ended before the agents handed over. Answers to all agents call nobody.
func (r *Room) overdue(past []earshot.Event) (all []lastWord) {
	authors := make(map[earshot.EventID]earshot.ParticipantID)
	calls := make(map[earshot.TurnID]bool) // its reply may call others
	for _, e := range past {
		authors[e.ID] = e.Author
		if d, ok := e.Body.(earshot.Decision); ok && d.Turn != "" {
			calls[d.Turn] = !slices.Contains(d.Reasons, addressing.Everybody)
		}
		move := conversation.TurnEventOf(e, r.exchange.Kind).Kind
		if move == conversation.Irrelevant || move == conversation.Set {
			continue
		}
		all = slices.DeleteFunc(all, func(l lastWord) bool { return conversation.SameCircle(l.said.Visibility, e.Visibility) })
		if reply, ok := e.Body.(earshot.Reply); ok && move == conversation.Word && reply.Outcome == earshot.Completed && calls[reply.Turn] {
			all = append(all, lastWord{e, authors[reply.About]})
		}
	}
	return all
}

// handOverOverdue makes agents hand over that should have done so before the program began: one
// called another, and enough had been said. It waits until somebody is there to be told.
func (r *Room) handOverOverdue(ctx context.Context) {
	r.unreturned = slices.DeleteFunc(r.unreturned, func(l lastWord) bool {
		why := r.exchange.Reason(l.said.Visibility, r.set.MultiParty.TurnLimit)
		q := question.Question{Seat: r.seatOf(l.said.Author), Message: l.said, Chain: true, Ticket: r.floor.Ticket()}
		switch {
		case why == "" || q.Seat == nil || r.against(q) != "" || !r.led(l):
			return true
		case len(r.outlets(q, r.set)) == 0:
			return false
		}
		r.handOver(ctx, q, l.said, why)
		return true
	})
}

// led reports whether the last word called an agent of the room. A call by a tag is not in its
// text, but in its addressees.
func (r *Room) led(l lastWord) bool {
	to := r.addressing.Directory().Calls(l.said.Body.(earshot.Reply).Offered, l.said.Author).To
	for _, id := range l.said.To {
		if id != l.to && l.said.Visibility.Scope != earshot.Private { // a private reply is for everybody in it
			to = append(to, id)
		}
	}
	return slices.ContainsFunc(r.seats, func(s *seat.Seat) bool {
		return s.ID != l.said.Author && l.said.Visibility.AllowsAgent(s.ID) && slices.Contains(to, s.ID)
	})
}
