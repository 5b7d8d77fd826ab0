package room

import (
	"slices"

	"earshot"
	"earshot/executive"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// question is a message that will be answered.
type question struct {
	message earshot.Event
	rank    int              // how urgent it is
	ticket  interrupt.Ticket // a cut after it cuts its turn
	turn    earshot.TurnID
	want    reflex.Kind

	// What the answer is made of: who may see all of it, and the messages,
	// which it is erased with.
	visibility earshot.Visibility
	sources    []earshot.EventID
}

// madeOf notes that the answer rests on lines of the dialogue: only who may see
// all of them may see it, and it is erased with what people wrote of them.
func (q *question) madeOf(lines []line) {
	for _, l := range lines {
		q.visibility = q.visibility.And(l.visibility)
		if l.author != participants.Agent && !l.announces && !slices.Contains(q.sources, l.event) {
			q.sources = append(q.sources, l.event)
		}
	}
}

// restsOn notes the same of what was going on.
func (q *question) restsOn(items []scene.Item) {
	for _, i := range items {
		q.visibility = q.visibility.And(i.Visibility)
		if i.Event != "" && i.Field != scene.Agent && !slices.Contains(q.sources, i.Event) {
			q.sources = append(q.sources, i.Event)
		}
	}
}

// outlets returns where the answer to a message comes out: where all who are
// around may see it. What was written is not answered aloud, unless that is
// wanted; and what is private never.
func (r *Room) outlets(m earshot.Event, set executive.Config) []*place {
	places := r.around(m.Visibility)
	_, aloud := m.Body.(earshot.Utterance)
	if m.Visibility.Scope == earshot.Private || !aloud && !set.Speech.TypedAloud {
		places = slices.DeleteFunc(places, (*place).Audible)
	}
	return places
}

// listeners returns everybody whom the answer to a message is for, and the
// agent, which reads what it is made of. An answer that all may see is for those
// who come later, too: nothing private is in it, whoever is here.
func (r *Room) listeners(m earshot.Event) earshot.Audience {
	a := earshot.Audience{Room: r.cfg.ID, Unknown: true}
	if m.Visibility.Scope == earshot.Private {
		a.Unknown = false
		a.Members = slices.DeleteFunc(slices.Clone(m.Visibility.Members), func(id earshot.ParticipantID) bool { return id == participants.Agent })
	}
	return a.With(participants.Agent)
}

// maxCircles is how many conversations may wait for an answer at once: the open
// one, and private ones.
const maxCircles = 16

// supersede keeps, of the questions that wait in one conversation, the most
// urgent, of equals the newest, which the model sees last. The others are
// context by now; their turns end before they begin. What only some may see is
// no context of what others asked, so that waits beside it.
func (r *Room) supersede() {
	var kept []question
	for _, q := range r.pending {
		i := slices.IndexFunc(kept, func(k question) bool { return together(k.message.Visibility, q.message.Visibility) })
		switch {
		case i < 0:
			kept = append(kept, q)
			continue
		case q.rank >= kept[i].rank:
			q, kept[i] = kept[i], q
		}
		r.giveUp(q)
	}
	for _, q := range kept[:max(0, len(kept)-maxCircles)] {
		r.giveUp(q)
	}
	r.pending = kept[max(0, len(kept)-maxCircles):]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = len(r.pending)
}

// giveUp ends the turn of a question before it begins.
func (r *Room) giveUp(q question) {
	r.unsaved = append(r.unsaved, r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
}

// end returns the event that says how the turn of q ended. It is erased with
// the messages that it was made of: the question, and what else of the dialogue
// people wrote.
func (r *Room) end(q question, reply earshot.Reply) earshot.Event {
	reply.Turn, reply.About = q.turn, q.message.ID
	e := r.event(q.visibility, reply)
	for _, id := range append([]earshot.ParticipantID{q.message.Author}, q.message.Visibility.Members...) {
		p, known := r.cfg.People.Get(id) // one person may be among the members twice
		if known && p.ID != participants.Agent && !slices.Contains(e.To, p.ID) {
			e.To = append(e.To, p.ID)
		}
	}
	e.Sources = q.sources
	if !slices.Contains(e.Sources, q.message.ID) {
		e.Sources = append(e.Sources, q.message.ID)
	}
	return e
}
