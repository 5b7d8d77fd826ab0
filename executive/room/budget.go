package room

import (
	"fmt"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
)

// countTurn takes an event on record into turn control.
func (r *Room) countTurn(e earshot.Event) { r.turnControl.Take(e, r.kind) }

// kind returns the type of a participant.
func (r *Room) kind(id earshot.ParticipantID) participants.Type {
	p, _ := r.cfg.People.Get(id)
	return p.Type
}

// handoverReason returns why no agent may answer another any more in a conversation, or nothing if
// one may: limit is how many messages of agents may follow one another.
func handoverReason(b conversation.Budget, limit int) earshot.Why {
	switch {
	case b.Spent(limit):
		return earshot.TurnLimit
	case b.Repeats():
		return earshot.Repetition
	}
	return ""
}

// spend notes that an agent is about to ask another within its turn, or to answer it, in the
// conversation of v. The error, for the model, says that enough has been said there. What the agent
// then says counts once it is on record. spend is safe for concurrent use.
func (r *Room) spend(v earshot.Visibility) error {
	b := r.turnControl.Of(v)
	if handoverReason(b, r.cfg.Settings().MultiParty.TurnLimit) == "" {
		return nil
	}
	return fmt.Errorf("the agents here have said %d messages in a row, and may not say more to each other now; "+
		"say yourself what you know, to %s", b.Count, r.addressee(r.worksFor(b, v)))
}

// worksFor returns for whom the agents of a conversation work: the first asker, or else the owner
// of the machine, if they may see the conversation. It is empty if unknown.
func (r *Room) worksFor(b conversation.Budget, v earshot.Visibility) earshot.ParticipantID {
	for _, id := range []earshot.ParticipantID{b.For, participants.Owner} {
		p, known := r.cfg.People.Get(id)
		if known && p.Person() && (v.Scope != earshot.Private || slices.Contains(v.Members, p.ID)) {
			return p.ID
		}
	}
	return ""
}

// addressee returns how agents that hand over address somebody.
func (r *Room) addressee(id earshot.ParticipantID) string {
	if id == "" {
		return "@human"
	}
	return "@" + r.cfg.People.Name(id)
}
