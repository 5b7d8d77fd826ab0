package room

import (
	"context"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/exchange"
	"earshot/executive/prompt"
	"earshot/executive/question"
)

// handOver makes the agents of a conversation leave the floor to a person, after what one of them
// has said: by one reply, in the name of the one that spoke last. Whatever they had still to say to
// each other is given up. They do so once: nothing happens if they have already, if a person has
// the floor next anyway, or if the journal accepts nothing. It reports whether they will.
func (r *Room) handOver(ctx context.Context, after question.Question, last earshot.Event, why earshot.Why) bool {
	b := r.exchange.Of(last.Visibility)
	if b.Over || r.pending.Overtakes(after) {
		return false
	}
	r.drop(func(q question.Question) bool {
		return q.Chain && conversation.SameCircle(q.Message.Visibility, last.Visibility)
	})
	h := &earshot.Handover{Why: why, To: r.exchange.WorksFor(last.Visibility)}
	q := question.Question{
		Seat: after.Seat, Message: last, Chain: true, Root: after.Origin(), Ticket: after.Ticket, Aloud: after.Aloud,
		Turn: earshot.TurnID(r.cfg.NewID()), Rests: prompt.Provenance{Visibility: last.Visibility},
		Handover: h, Words: r.exchange.Parting(h, after.Seat.Name, b.Count, r.set.MultiParty.TurnLimit),
	}
	if s := r.seatOf(b.Last); s != nil {
		q.Seat = s
	}
	if !r.settle(ctx, r.decision(q, earshot.Speak, exchange.DecisionReason(why))) {
		return false
	}
	r.wait(append(r.pending, q))
	return true
}

// handover returns how an ended turn leaves the floor to a person, or nil if it does not.
func (e turnResult) handover() *earshot.Handover {
	if e.generation != nil && e.generation.Passed {
		return &earshot.Handover{Why: earshot.Passed, To: e.generation.To}
	}
	return e.question.Handover
}

// reach shows an event to somebody for whom it is and who is not in this room, wherever they are.
func (r *Room) reach(who earshot.ParticipantID, e earshot.Event) {
	if who != "" && r.cfg.Reach != nil && !addressing.IsAmong(r.cfg.People.Here(r.cfg.ID), who) {
		r.cfg.Reach(who, e)
	}
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

// decision returns an agent's decision about a question that no person asked.
func (r *Room) decision(q question.Question, verdict earshot.Verdict, reason string) earshot.Event {
	d := earshot.Decision{About: q.Message.ID, Agent: q.Seat.ID, Verdict: verdict, Reasons: []string{reason}}
	if verdict == earshot.Speak {
		d.Turn = q.Turn
	}
	e := r.event(q.Rests.Visibility, d)
	e.Author, e.Sources = q.Seat.ID, []earshot.EventID{q.Message.ID}
	return e
}
