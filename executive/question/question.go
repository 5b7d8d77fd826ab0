// Package question holds what an agent will answer: each question with everything that its answer
// depends on, in what order those that wait are answered, and what the model is told for one of
// them. It knows no room; nothing in it waits or has a goroutine.
package question

import (
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive/askers"
	"earshot/executive/dialogue"
	"earshot/executive/latency"
	"earshot/executive/midturn"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/executive/seat"
	"earshot/executive/sight"
	"earshot/executive/tool"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

// A Question is a message that an agent will answer.
type Question struct {
	Seat    *seat.Seat // of the agent
	Message earshot.Event
	Rank    int              // how urgent it is
	Chain   bool             // another agent asks it
	Root    earshot.EventID  // of a chain: what somebody asked at its beginning
	Ticket  interrupt.Ticket // a later cut cuts its turn
	Turn    earshot.TurnID
	Want    reflex.Kind

	SideTalk midturn.SideTalk  // what it means for the work that was broken off for it
	Progress *midturn.Progress // what its own turn is doing
	Trace    *latency.Trace    // its measurements; nil before its turn if nobody asked it

	AsOf        time.Time // the now of its prompt; zero means when the prompt is made
	StillSpoken bool      // its message is still being spoken

	Everybody bool // it calls every agent
	Aloud     bool // it was said aloud, or is what agents answer each other after that
	Follows   bool // it continues a conversation, and calls nobody
	Again     bool // it was asked before earshot stopped
	AsksBack  bool // it was hardly understood, which the answer says

	Look *sight.Look // of a question about sight: what there was to see

	Resumes earshot.Event // of a question for the rest of a reply that was cut off: that reply

	Handover *earshot.Handover // of a reply that hands over
	Words    string            // in which it is answered, if the program chooses them

	Confirmed *tool.ConfirmedCall // a confirmed tool call, which is carried out first; nil for none

	Candidate *unasked.Candidate // what the agent says although nobody has just asked; nil if somebody has
	ToRoom    bool               // it was put to the whole room

	// askers are its authors, and those of questions given up in its favour, as they were known by
	// the handles by which they came.
	Askers []participants.Participant

	// after is what others wrote or changed since then, as far as it is in its prompt; overheard
	// are the authors of words in its prompt that were said aloud meanwhile.
	After     []dialogue.Line
	Overheard []earshot.ParticipantID

	Rests  prompt.Provenance       // what the answer rests on
	Rested func(prompt.Provenance) // receives that when it changes in the turn; may be nil
}

// Origin returns the event with which the conversation of q began.
func (q Question) Origin() earshot.EventID {
	if q.Root != "" {
		return q.Root
	}
	return q.Message.ID
}

// TakeOver notes that another question was given up in favour of q.
func (q *Question) TakeOver(other Question) {
	for _, p := range other.Askers {
		q.Askers = askers.Add(q.Askers, p)
	}
}

// Begins notes that the turn of q begins. moved is called whenever it has got further.
func (q *Question) Begins(now func() time.Time, moved func()) {
	began := now()
	if q.Trace == nil {
		q.Trace = &latency.Trace{Came: began}
	}
	q.Trace.Began = began
	q.Trace.Tracker.Now, q.Trace.Tracker.Moved = now, moved
}

// RestOn notes that the answer also rests on other events that were used.
func (q *Question) RestOn(v earshot.Visibility, from []earshot.EventID) {
	q.Rests = q.Rests.And(v, from...)
	q.Trace.SetVisibility(q.Rests.Visibility)
	if q.Rested != nil {
		q.Rested(q.Rests)
	}
}

// Precedes reports whether q is answered rather than another, earlier question of the same
// conversation: a person's question before an agent's, then the more urgent one, and of equals the
// newer one. A question that is asked again counts as older than one that is not.
func (q Question) Precedes(earlier Question) bool {
	if q.Chain != earlier.Chain {
		return earlier.Chain
	}
	if q.Rank == earlier.Rank && q.Again != earlier.Again {
		return earlier.Again
	}
	return q.Rank >= earlier.Rank
}

// Protected reports whether the answer is said whole; see [earshot.Opening].
func (q Question) Protected() bool {
	return q.Candidate != nil && q.Candidate.Kind == unasked.VoiceNotice
}

// FromPerson reports whether a person waits for the answer.
func (q Question) FromPerson() bool {
	return !q.Chain && q.Candidate == nil
}

// Unasked reports whether nobody asked for what is said.
func (q Question) Unasked() bool {
	return q.ToRoom || q.Candidate.Unbidden()
}

// Decision returns the decision of its agent about it.
func (q *Question) Decision(verdict earshot.Verdict, reasons ...string) earshot.Decision {
	d := earshot.Decision{About: q.Message.ID, Agent: q.Seat.ID, Verdict: verdict, Reasons: reasons}
	if verdict == earshot.Speak {
		d.Turn = q.Turn
	}
	return d
}

// Answers reports whether it answers any of some messages, or began with one. A nil question does
// not.
func (q *Question) Answers(is func(earshot.EventID) bool) bool {
	return q != nil && (is(q.Message.ID) || is(q.Origin()))
}

// About returns what the answer is to; empty for a reminder and for what nobody asked for.
func (q Question) About() earshot.EventID {
	if q.Candidate != nil {
		return q.Candidate.Answers
	}
	return q.Message.ID
}

// Whom returns for whom the answer is.
func (q Question) Whom() earshot.ParticipantID {
	switch {
	case q.Candidate != nil:
		return q.Candidate.Whom
	case q.Handover != nil:
		return q.Handover.To
	case q.Confirmed != nil:
		return q.Confirmed.By.ID
	}
	return q.Message.Author
}

// Latency returns how long the turn of q took, which ended at now.
func (q Question) Latency(reply earshot.Reply, now time.Time) api.Latency {
	return q.Trace.Latency(api.Latency{Turn: q.Turn, Agent: q.Seat.ID, About: q.About(), Outcome: reply.Outcome, Reflex: reply.Reflex, Aloud: q.Aloud, Unasked: q.Unasked()}, now)
}

// Asking returns q as far as it decides in whose name it is answered.
func (q *Question) Asking() askers.Question {
	return askers.Question{Message: q.Message, Agent: q.Seat.ID, Askers: q.Askers, Lines: q.Seat.History.Lines, OwnWords: q.OwnWords(), After: q.After, Overheard: q.Overheard}
}

// OwnWords reports whether q is answered with only its author's words.
func (q *Question) OwnWords() bool {
	m, _ := q.Message.Body.(earshot.Message)
	return m.OwnWords
}

// Separate reports whether q and another question wait separately, in the order in which they came,
// as in different conversations. A question with its author's own words is no context for what
// others asked; a confirmed call is carried out whatever else is asked.
func (q *Question) Separate(other *Question) bool {
	if q.Confirmed != nil || other.Confirmed != nil || q.OwnWords() != other.OwnWords() {
		return true
	}
	return q.OwnWords() && q.Message.Author != other.Message.Author || !conversation.SameCircle(q.Message.Visibility, other.Message.Visibility)
}

// Priority returns how urgent the answer is for a model: people go first.
func (q *Question) Priority() llm.Priority {
	if q.Chain {
		return llm.ReplyToAgent
	}
	return llm.ReplyToPerson
}

// Audience returns everybody in a room for whom the answer is, and the agent, which reads what it is
// made from. A public answer is also for people who come later, so it contains nothing private.
// Other agents do not count: a message that calls some agents may be hidden from them.
func (q *Question) Audience(room earshot.RoomID, people *participants.Registry) earshot.Audience {
	a := earshot.Audience{Room: room, Unknown: true}.With(q.Seat.ID)
	if v := q.Message.Visibility; v.Scope == earshot.Private {
		a.Unknown = false
		for _, id := range v.Members {
			p, _ := people.Get(id)
			switch {
			case p.Type != participants.Internal:
				a.Members = append(a.Members, id)
			case id != q.Seat.ID:
				a = a.With(id)
			}
		}
	}
	return a
}
