package room

import (
	"earshot"
	"earshot/participants"
)

// TellAlone shows a notice at the terminals in the room around which somebody is alone, without
// keeping it. It returns at once.
func (r *Room) TellAlone(who earshot.ParticipantID, n earshot.Notice) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.places.Around(e.Visibility) {
		if r.alone(p.Around(), who) {
			p.Show(e)
		}
	}
}

// alone reports whether a is who, by whichever handle, and nobody else.
func (r *Room) alone(a earshot.Audience, who earshot.ParticipantID) bool {
	if a.Unknown || len(a.Members) == 0 {
		return false
	}
	for _, id := range a.Members {
		if p, _ := r.cfg.People.Get(id); p.ID != who || participants.Generic == who {
			return false
		}
	}
	return true
}

// TellOperators shows a notice wherever only operators of the program read. It reports whether
// anybody did.
func (r *Room) TellOperators(n earshot.Notice) (told bool) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.places.Around(e.Visibility) {
		if r.cfg.People.Operate(p.Around()) {
			p.Show(e)
			told = true
		}
	}
	return told
}
