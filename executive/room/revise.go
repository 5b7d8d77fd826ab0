package room

import (
	"earshot"
	"earshot/executive"
	"earshot/executive/admission"
	"earshot/executive/askers"
	"earshot/executive/decision"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/revision"
)

// actOnFloor lets an event act on the floor. A revision or withdrawal of the message that is being
// answered always counts, because that question no longer exists.
func (r *Room) actOnFloor(set *executive.Config, in admission.Input) {
	if in.Change.Of == "" {
		r.heed(set, in.Signal)
	} else if in.Signal != nil {
		r.floor.Signal(in.Signal)
	}
}

// reask returns the decision to answer a message again that was changed meanwhile, and records the
// question in the entry.
func (r *Room) reask(e *admission.Entry, b earshot.Revision) []earshot.Event {
	again := e.Change.Again
	if again == nil { // its turn may have begun meanwhile
		if again = r.resolver.Outdated(b); again != nil {
			e.Signal = revision.Signal(e.Event(), e.Who.ID)
			r.actOnFloor(&r.set, e.Input)
			e.Ticket = r.floor.Ticket()
		}
	}
	if again == nil || !r.answers() || r.seatOf(again.Seat.ID) == nil {
		return nil
	}
	now, _ := revision.Reword(again.Message, e.Event())
	q := question.Question{
		Seat: again.Seat, Message: now, Rank: again.Rank, Chain: again.Chain, Root: again.Root,
		Ticket: e.Ticket, Turn: earshot.TurnID(r.cfg.NewID()), Want: reflex.Recognise(b.Text, again.Seat.Name),
		Everybody: again.Everybody, Aloud: again.Aloud, ToRoom: again.ToRoom,
		Askers: askers.Add(again.Askers, e.Who), Rests: prompt.Provenance{Visibility: again.Message.Visibility},
	}
	e.Questions = append(e.Questions, q)
	return []earshot.Event{r.decided(q, q.Decision(earshot.Speak, decision.Reworded))}
}
