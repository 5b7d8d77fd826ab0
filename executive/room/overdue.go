package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/seat"
)

// handOverOverdue makes agents hand over that should have done so before the program began: one
// called another, and enough had been said. It waits until somebody is there to be told.
func (r *Room) handOverOverdue(ctx context.Context) {
	r.unreturned = slices.DeleteFunc(r.unreturned, func(l record.LastWord) bool {
		why := r.exchange.Reason(l.Said.Visibility, r.set.MultiParty.TurnLimit)
		q := question.Question{Seat: r.seatOf(l.Said.Author), Message: l.Said, Chain: true, Ticket: r.floor.Ticket()}
		switch {
		case why == "" || q.Seat == nil || r.against(q) != "" || !r.led(l):
			return true
		case len(r.outlets(q, r.set)) == 0:
			return false
		}
		r.handOver(ctx, q, l.Said, why)
		return true
	})
}

// led reports whether the last word called an agent of the room. A call by a tag is not in its
// text, but in its addressees.
func (r *Room) led(l record.LastWord) bool {
	to := r.addressing.Directory().Calls(l.Said.Body.(earshot.Reply).Offered, l.Said.Author).To
	for _, id := range l.Said.To {
		if id != l.To && l.Said.Visibility.Scope != earshot.Private { // a private reply is for everybody in it
			to = append(to, id)
		}
	}
	return slices.ContainsFunc(r.seats, func(s *seat.Seat) bool {
		return s.ID != l.Said.Author && l.Said.Visibility.AllowsAgent(s.ID) && slices.Contains(to, s.ID)
	})
}
