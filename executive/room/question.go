package room

import (
	"earshot/executive/delivery"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/askers"
	"earshot/executive/dialogue"
	"earshot/executive/latency"
	"earshot/executive/midturn"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/executive/sight"
	"earshot/executive/tool"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
)

// question is a message that an agent will answer.
type question struct {
	seat    *seat // of the agent
	message earshot.Event
	rank    int              // how urgent it is
	chain   bool             // another agent asks it
	root    earshot.EventID  // of a chain: what somebody asked at its beginning
	ticket  interrupt.Ticket // a later cut cuts its turn
	turn    earshot.TurnID
	want    reflex.Kind

	sideTalk sideTalk          // what it means for the work that was broken off for it
	progress *midturn.Progress // what its own turn is doing
	trace    *latency.Trace    // its measurements; nil before its turn if nobody asked it

	asOf        time.Time // the now of its prompt; zero means when the prompt is made
	stillSpoken bool      // its message is still being spoken

	everybody bool // it calls every agent
	aloud     bool // it was said aloud, or is what agents answer each other after that
	follows   bool // it continues a conversation, and calls nobody
	again     bool // it was asked before earshot stopped
	asksBack  bool // it was hardly understood, which the answer says

	look *sight.Look // of a question about sight: what there was to see

	resumes earshot.Event // of a question for the rest of a reply that was cut off: that reply

	handover *earshot.Handover // of a reply that hands over
	words    string            // in which it is answered, if the program chooses them

	confirmed *tool.ConfirmedCall // a confirmed tool call, which is carried out first; nil for none

	candidate *unasked.Candidate // what the agent says although nobody has just asked; nil if somebody has
	toRoom    bool               // it was put to the whole room

	// askers are its authors, and those of questions given up in its favour, as they were known by
	// the handles by which they came.
	askers []participants.Participant

	// after is what others wrote or changed since then, as far as it is in its prompt; overheard
	// are the authors of words in its prompt that were said aloud meanwhile.
	after     []dialogue.Line
	overheard []earshot.ParticipantID

	rests prompt.Provenance // what the answer rests on
}

// origin returns the event with which the conversation of q began.
func (q question) origin() earshot.EventID {
	if q.root != "" {
		return q.root
	}
	return q.message.ID
}

// favour notes that another question was given up in favour of q.
func (q *question) favour(other question) {
	for _, p := range other.askers {
		q.askers = askers.Add(q.askers, p)
	}
}

// derives notes that the answer also rests on other events that were used.
func (q *question) derives(v earshot.Visibility, from []earshot.EventID) {
	q.rests = q.rests.And(v, from...)
	q.trace.SetVisibility(q.rests.Visibility)
}

// before reports whether q is answered rather than another, earlier question of the same
// conversation: a person's question before an agent's, then the more urgent one, and of equals the
// newer one. A question that is asked again counts as older than one that is not.
func (q question) before(earlier question) bool {
	if q.chain != earlier.chain {
		return earlier.chain
	}
	if q.rank == earlier.rank && q.again != earlier.again {
		return earlier.again
	}
	return q.rank >= earlier.rank
}

// outlets returns where the answer to q goes: where everybody around may see it. A written question
// is answered aloud only if that is wanted, as for a reminder, and a private one never. A spoken
// question is answered in writing too, except in a chat beside a call.
func (r *Room) outlets(q question, set executive.Config) []*delivery.Outlet {
	v := q.message.Visibility
	places := r.places.Around(v)
	if v.Scope == earshot.Private || !q.aloud && !set.Speech.TypedAloud {
		places = slices.DeleteFunc(places, (*delivery.Outlet).Audible)
	}
	if q.aloud && slices.ContainsFunc(places, (*delivery.Outlet).Audible) {
		places = slices.DeleteFunc(places, (*delivery.Outlet).Written)
	}
	return places
}

// listeners returns everybody for whom the answer to q is, and the agent, which reads what it is
// made from. A public answer is also for people who come later, so it contains nothing private.
// Other agents do not count: a message that calls some agents may be hidden from them.
func (r *Room) listeners(q question) earshot.Audience {
	a := earshot.Audience{Room: r.cfg.ID, Unknown: true}.With(q.seat.ID)
	if v := q.message.Visibility; v.Scope == earshot.Private {
		a.Unknown = false
		for _, id := range v.Members {
			p, _ := r.cfg.People.Get(id)
			switch {
			case p.Type != participants.Internal:
				a.Members = append(a.Members, id)
			case id != q.seat.ID:
				a = a.With(id)
			}
		}
	}
	return a
}

// supersede keeps, of the questions that wait for one agent in one conversation, the most urgent,
// and of equals the newest, which the model sees last. The others have become context; their turns
// end before they begin, so a burst to a busy agent is answered in order, by one turn. A private
// question is no context for what others asked, so it waits separately.
func (r *Room) supersede() {
	var kept []question
	for _, q := range r.pending {
		i := slices.IndexFunc(kept, func(k question) bool {
			return k.seat == q.seat && !k.apart(&q)
		})
		switch {
		case i < 0:
			kept = append(kept, q)
		case q.before(kept[i]):
			r.yields(kept[i], q)
			q.favour(kept[i])
			kept = append(slices.Delete(kept, i, i+1), q)
		default:
			r.yields(q, kept[i])
			kept[i].favour(q)
		}
	}
	r.wait(r.bounded(kept))
}

// bounded gives up the questions to an agent that have waited longest, if there are too many.
func (r *Room) bounded(all []question) []question {
	circles := make(map[*seat]int)
	var kept []question
	for _, q := range slices.Backward(all) {
		if circles[q.seat]++; circles[q.seat] > conversation.MaxCircles {
			r.giveUp(q)
			r.dropping("questions", 1)
			continue
		}
		kept = append(kept, q)
	}
	slices.Reverse(kept)
	return kept
}

// wait sets the questions that wait.
func (r *Room) wait(questions []question) {
	r.pending = questions
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = len(r.pending)
}

// drop gives up the waiting questions that fit.
func (r *Room) drop(fits func(question) bool) {
	if !slices.ContainsFunc(r.pending, fits) {
		return
	}
	var kept []question
	for _, q := range r.pending {
		if fits(q) {
			r.giveUp(q)
			continue
		}
		kept = append(kept, q)
	}
	r.wait(kept)
}

// overtake applies somebody's words, once they are kept, to the waiting questions. A command word
// ends all talk among agents. A person who asks an agent precedes it in the same conversation.
// Questions of others keep waiting: that the speaker was cut for this does not cut them.
func (r *Room) overtake(e *entry) {
	if e.signal == nil {
		return
	}
	stops := e.signal.Kind == interrupt.Command
	r.drop(func(q question) bool {
		return q.chain && (stops || len(e.asks) > 0 && conversation.SameCircle(q.message.Visibility, e.event.Visibility))
	})
	for i, q := range r.pending {
		r.pending[i].ticket = r.floor.Renew(q.ticket, e.ticket)
	}
}

// giveUp ends the turn of a question before it begins.
func (r *Room) giveUp(q question) {
	r.unsaved.Add(r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
}

// yields is giveUp in favour of another question.
func (r *Room) yields(q, to question) {
	r.unsaved.Add(r.end(q, earshot.Reply{Outcome: earshot.Suppressed, Superseded: to.message.ID}))
}

// protected reports whether the answer is said whole; see [earshot.Opening].
func (q question) protected() bool {
	return q.candidate != nil && q.candidate.Kind == unasked.VoiceNotice
}

// asked reports whether a person waits for the answer.
func (q question) asked() bool {
	return !q.chain && q.candidate == nil
}

// unbidden reports whether nobody asked for what is said.
func (q question) unbidden() bool {
	return q.toRoom || q.candidate.Unbidden()
}

// about returns what the answer is to; empty for a reminder and for what nobody asked for.
func (q question) about() earshot.EventID {
	if q.candidate != nil {
		return q.candidate.Answers
	}
	return q.message.ID
}

// whom returns for whom the answer is.
func (q question) whom() earshot.ParticipantID {
	switch {
	case q.candidate != nil:
		return q.candidate.Whom
	case q.handover != nil:
		return q.handover.To
	case q.confirmed != nil:
		return q.confirmed.By.ID
	}
	return q.message.Author
}

// end returns the event that says how the turn of q ended. It is erased with the messages from
// which it was made: the question, and others' lines of the dialogue.
func (r *Room) end(q question, reply earshot.Reply) earshot.Event {
	reply.Turn, reply.About = q.turn, q.about()
	e := r.event(q.rests.Visibility, reply)
	e.Author = q.seat.ID
	for _, id := range append([]earshot.ParticipantID{q.whom()}, q.message.Visibility.Members...) {
		p, known := r.cfg.People.Get(id) // one person may be among the members twice
		if known && p.ID != q.seat.ID && !slices.Contains(e.To, p.ID) {
			e.To = append(e.To, p.ID)
		}
	}
	e.Sources = q.rests.Sources
	if !slices.Contains(e.Sources, q.message.ID) {
		e.Sources = append(e.Sources, q.message.ID)
	}
	return e
}

// latency returns how long the turn of q took, which ended at now.
func (q question) latency(reply earshot.Reply, now time.Time) api.Latency {
	return q.trace.Latency(api.Latency{Turn: q.turn, Agent: q.seat.ID, About: q.about(), Outcome: reply.Outcome, Reflex: reply.Reflex, Aloud: q.aloud, Unasked: q.unbidden()}, now)
}

// asking returns q as far as it decides in whose name it is answered.
func (q *question) asking() askers.Question {
	return askers.Question{Message: q.message, Agent: q.seat.ID, Askers: q.askers, Lines: q.seat.history.Lines, OwnWords: q.ownWords(), After: q.after, Overheard: q.overheard}
}

// asker returns the author of something, as somebody who asks for something by it.
func (in resolvedEvent) asker() participants.Participant {
	if in.event.Body.Kind() == earshot.KindUtterance {
		return in.who.Aloud()
	}
	return in.who
}
