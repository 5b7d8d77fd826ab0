package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/reflex"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/executive/tool"
	"earshot/interrupt"
	"earshot/participants"
)

// question is a message that an agent will answer.
type question struct {
	seat    *seat // of the agent
	message earshot.Event
	rank    int              // how urgent it is
	chain   bool             // another agent asks it
	root    earshot.EventID  // of a chain: what somebody asked when it began
	ticket  interrupt.Ticket // a cut after it cuts its turn
	turn    earshot.TurnID
	want    reflex.Kind

	sideTalk sideTalk      // what it means to the work that was broken off for it
	progress *progress     // what its own turn is at
	trace    *latencyTrace // what is measured of it; nil before its turn of what nobody asked

	asOf        time.Time // what its prompt calls now; zero is when it is made
	stillSpoken bool      // its message is still being said

	everybody bool // it calls every agent
	protected bool // it is said whole; see [earshot.Opening]
	aloud     bool // it was said aloud, or what agents answer each other after it
	follows   bool // it goes on with a talk, and calls nobody
	again     bool // it was asked before earshot stopped
	asksBack  bool // it was hardly understood, which the answer says

	snapshot *snapshotRequest // of a question about sight: what there was to see

	resumes earshot.Event // of a question for the rest of a reply that was cut off: that reply

	// Of a reply by which agents hand over, or somebody is reminded: its words,
	// which are the house's.
	handover *earshot.Handover
	remind   *remind.Reminder
	words    string

	confirmed *tool.ConfirmedCall // a call of a tool, which is done first; nil for none

	// Of what the agent says unasked: the finding, whose words it says, or else that
	// it answers what somebody asked the room.
	found   *pendingFinding
	unasked bool
	arrival *arrival // or that it greets somebody

	// Askers are who wrote it, and what was given up in its favour, as they were
	// known by the handle that they came by.
	askers []participants.Participant

	// After is what others wrote or changed since, that stands in its prompt, and overheard is who
	// said something aloud meanwhile that does.
	after     []line
	overheard []earshot.ParticipantID

	// What the answer is made of: who may see all of it, and the messages,
	// which it is erased with.
	visibility earshot.Visibility
	sources    []earshot.EventID
}

// madeOf notes that the answer rests on lines of the dialogue: only who may see
// all of them may see it, and it is erased with what others said of them.
func (q *question) madeOf(lines []line) {
	q.after = q.since(lines)
	for _, l := range lines {
		q.visibility = q.visibility.And(l.visibility)
		if l.author != q.seat.ID && !l.announces && !slices.Contains(q.sources, l.event) {
			q.sources = append(q.sources, l.event)
		}
		for _, m := range l.mends {
			q.sources = alsoRests(q.sources, m.edit)
		}
		if c := l.quoted; c != nil {
			q.visibility = q.visibility.And(c.visibility)
			if c.by != q.seat.ID {
				q.sources = alsoRests(q.sources, c.event)
			}
		}
	}
}

// since returns what others wrote or changed after the question was asked, of some lines.
func (q *question) since(lines []line) (after []line) {
	asked := slices.IndexFunc(lines, func(l line) bool { return l.event == q.message.ID })
	for i, l := range lines {
		later := i > asked || l.revised.After(q.message.At)
		if asked >= 0 && later && l.author != q.seat.ID && !l.announces {
			after = append(after, l)
		}
	}
	return after
}

// restsOn notes the same of what was going on.
func (q *question) restsOn(items []scene.Item) {
	q.overheard = nil
	for _, i := range items {
		q.visibility = q.visibility.And(i.Visibility)
		if i.Aloud && i.Event != q.message.ID && i.At.After(q.message.At) {
			q.overheard = append(q.overheard, i.By)
		}
		if i.Event != "" && i.Field != scene.Agent && !slices.Contains(q.sources, i.Event) {
			q.sources = append(q.sources, i.Event)
		}
	}
}

// origin returns with what the talk began that q belongs to.
func (q question) origin() earshot.EventID {
	if q.root != "" {
		return q.root
	}
	return q.message.ID
}

// favour notes that another question was given up in favour of q.
func (q *question) favour(other question) {
	for _, p := range other.askers {
		q.askers = alsoAsks(q.askers, p)
	}
}

// derives notes the same of what was found for it.
func (q *question) derives(v earshot.Visibility, from []earshot.EventID) {
	q.visibility = q.visibility.And(v)
	q.trace.rests(q.visibility)
	for _, id := range from {
		if !slices.Contains(q.sources, id) {
			q.sources = append(q.sources, id)
		}
	}
}

// before reports whether q is answered rather than another question of the same
// conversation, which came earlier: what a person asks before what an agent
// does, the more urgent one, and of equals the newer. What is asked again is older than
// what was not.
func (q question) before(earlier question) bool {
	if q.chain != earlier.chain {
		return earlier.chain
	}
	if q.rank == earlier.rank && q.again != earlier.again {
		return earlier.again
	}
	return q.rank >= earlier.rank
}

// outlets returns where the answer to q comes out: where all who are
// around may see it. What was written is not answered aloud, unless that is
// wanted, as a reminder is; and what is private never. What was said aloud is answered
// in writing too, but for a chat beside a call.
func (r *Room) outlets(q question, set executive.Config) []*roomOutlet {
	v := q.message.Visibility
	places := r.around(v)
	if v.Scope == earshot.Private || !q.aloud && !set.Speech.TypedAloud {
		places = slices.DeleteFunc(places, (*roomOutlet).Audible)
	}
	if q.aloud && slices.ContainsFunc(places, (*roomOutlet).Audible) {
		places = slices.DeleteFunc(places, (*roomOutlet).Written)
	}
	return places
}

// listeners returns everybody whom the answer to q is for, and the agent, which
// reads what it is made of. An answer that all may see is for those who come
// later, too: nothing private is in it, whoever is here. It does not count the
// other agents, from whom it is hidden that others were called.
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

// maxCircles is how many conversations may wait for an answer of one agent at
// once: the open one, and private ones.
const maxCircles = 16

// supersede keeps, of the questions that wait for one agent in one conversation,
// the most urgent, of equals the newest, which the model sees last. The others
// are context by now; their turns end before they begin, and so a burst to an
// agent that is busy is answered in order, by one turn. What only some may see is
// no context of what others asked, so that waits beside it.
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

// bounded gives up the questions to an agent that wait longest, if there are too
// many.
func (r *Room) bounded(all []question) []question {
	circles := make(map[*seat]int)
	var kept []question
	for _, q := range slices.Backward(all) {
		if circles[q.seat]++; circles[q.seat] > maxCircles {
			r.giveUp(q)
			r.dropping("questions", 1)
			continue
		}
		kept = append(kept, q)
	}
	slices.Reverse(kept)
	return kept
}

// wait makes these the questions that wait.
func (r *Room) wait(questions []question) {
	r.pending = questions
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = len(r.pending)
}

// drop gives up those of the questions that wait which fit.
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

// overtake does to the questions that wait what somebody's words do, once they
// are kept. A command word ends all talk among agents; whoever asks one of them
// has the floor before it, in the same conversation. What others have asked goes
// on waiting: that the one who talked was cut for this is no cut of theirs.
func (r *Room) overtake(e *entry) {
	if e.signal == nil {
		return
	}
	stops := e.signal.Kind == interrupt.Command
	r.drop(func(q question) bool {
		return q.chain && (stops || len(e.asks) > 0 && together(q.message.Visibility, e.event.Visibility))
	})
	for i, q := range r.pending {
		r.pending[i].ticket = r.floor.Renew(q.ticket, e.ticket)
	}
}

// giveUp ends the turn of a question before it begins.
func (r *Room) giveUp(q question) {
	r.unsaved = append(r.unsaved, r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
}

// yields is giveUp in favour of another question.
func (r *Room) yields(q, to question) {
	r.unsaved = append(r.unsaved, r.end(q, earshot.Reply{Outcome: earshot.Suppressed, Superseded: to.message.ID}))
}

// asked reports whether a person waits for the answer.
func (q question) asked() bool {
	return !q.chain && q.remind == nil && q.found == nil && q.arrival == nil && !q.protected
}

// unbidden reports whether nobody has asked for what is said.
func (q question) unbidden() bool {
	return q.unasked || q.arrival != nil || q.found != nil && !q.found.asked
}

// about returns what the answer is to: a reminder is said by itself, and so is what
// nobody asked for.
func (q question) about() earshot.EventID {
	switch {
	case q.remind != nil || q.arrival != nil:
		return ""
	case q.found != nil:
		return q.found.event.Body.(earshot.Finding).Answers
	}
	return q.message.ID
}

// whom returns whom the answer is for.
func (q question) whom() earshot.ParticipantID {
	switch {
	case q.remind != nil:
		return q.remind.For
	case q.found != nil:
		return q.found.whom
	case q.handover != nil:
		return q.handover.To
	case q.confirmed != nil:
		return q.confirmed.By.ID
	}
	return q.message.Author
}

// end returns the event that says how the turn of q ended. It is erased with
// the messages that it was made of: the question, and what else of the dialogue
// others said.
func (r *Room) end(q question, reply earshot.Reply) earshot.Event {
	reply.Turn, reply.About = q.turn, q.about()
	e := r.event(q.visibility, reply)
	e.Author = q.seat.ID
	for _, id := range append([]earshot.ParticipantID{q.whom()}, q.message.Visibility.Members...) {
		p, known := r.cfg.People.Get(id) // one person may be among the members twice
		if known && p.ID != q.seat.ID && !slices.Contains(e.To, p.ID) {
			e.To = append(e.To, p.ID)
		}
	}
	e.Sources = q.sources
	if !slices.Contains(e.Sources, q.message.ID) {
		e.Sources = append(e.Sources, q.message.ID)
	}
	return e
}
