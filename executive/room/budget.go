package room

import (
	"fmt"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
)

// countTurn takes what is on record into turn control.
func (r *Room) countTurn(e earshot.Event) { r.turnControl.Take(e, r.kind) }

// kind returns what a participant is.
func (r *Room) kind(id earshot.ParticipantID) participants.Type {
	p, _ := r.cfg.People.Get(id)
	return p.Type
}

// handoverReason returns why no agent may answer another any more in a conversation, or
// nothing if one may.
func (r *Room) handoverReason(b conversation.Budget) earshot.Why {
	switch {
	case b.Spent(r.cfg.Settings().MultiParty.TurnLimit):
		return earshot.TurnLimit
	case b.Repeats():
		return earshot.Repetition
	}
	return ""
}

// spend says that an agent is about to ask another within its turn, or to answer
// it, in the conversation of v. The error is for the model: enough has been said
// there. What it then says counts once it is on record. It may be called from any
// goroutine.
func (r *Room) spend(v earshot.Visibility) error {
	b := r.turnControl.Of(v)
	if r.handoverReason(b) == "" {
		return nil
	}
	return fmt.Errorf("the agents here have said %d messages in a row, and may not say more to each other now; "+
		"say yourself what you know, to %s", b.Count, r.addressee(r.worksFor(b, v)))
}

// worksFor returns for whom the agents of a conversation work: who asked first,
// else whose machine it is, if they may see what is said there. It is empty if
// nobody knows.
func (r *Room) worksFor(b conversation.Budget, v earshot.Visibility) earshot.ParticipantID {
	for _, id := range []earshot.ParticipantID{b.For, participants.Owner} {
		p, known := r.cfg.People.Get(id)
		if known && p.Person() && (v.Scope != earshot.Private || slices.Contains(v.Members, p.ID)) {
			return p.ID
		}
	}
	return ""
}

// addressee returns what somebody is called by agents that hand over.
func (r *Room) addressee(id earshot.ParticipantID) string {
	if id == "" {
		return "@human"
	}
	return "@" + r.cfg.People.Name(id)
}
