package room

import (
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/admission"
	"earshot/executive/reflex"
)

// following is for how long somebody who has said "follow me" may take to be heard elsewhere.
const following = 2 * time.Minute

// follow notes beside which outlet somebody was heard. If it is the person for whom the live reply is,
// and they have gone there from where it is spoken, it goes along: they are known by their voice, or it
// is the only one here, or they have said that they would go.
func (r *Room) follow(in admission.Input) {
	u, spoken := in.Event.Body.(earshot.Utterance)
	if !spoken || in.Event.Via == "" || in.Address == conversation.Own || u.LikeAgent {
		return
	}
	who := in.Event.Author
	r.notices.Outlets.NoteHeard(who, in.Event.Via)
	now := r.cfg.Now()
	if in.Address.ForAgent() && reflex.Recognise(u.Text, r.agents()[0].Name) == reflex.Follow {
		until := now.Add(following)
		r.followed.Store(&until)
		return
	}
	q, _ := r.live.question()
	if q == nil || !q.Aloud || q.Protected() {
		return
	}
	until := r.followed.Load()
	asked := until != nil && now.Before(*until)
	if (asked || who != "" && who == q.Whom() || who == "" && r.speech.Presence.Alone(q.Whom())) && r.notices.Outlets.Follow(in.Event.Via) {
		r.followed.CompareAndSwap(until, nil)
		r.owner.Wake()
	}
}
