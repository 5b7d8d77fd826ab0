// Package turncontrol knows how long agents talk among themselves: how many messages they have said
// in a row in each conversation of a room, for whom, and whether they repeat each other. What that
// means for a reply is decided by its callers.
package turncontrol

import (
	"slices"
	"sync"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
)

// An Event is the meaning of an event for turn control.
type Event struct {
	Kind Kind
	By   earshot.ParticipantID // who said it
	Text earshot.Text          // what an agent said
	Of   earshot.EventID       // the event that has set a reminder
}

// A Kind is what a [Event] does.
type Kind int

// The kinds of turn events.
const (
	Irrelevant Kind = iota // it means nothing for turn control, like an arrival or a notice
	Word                   // an agent said something: it counts
	Set                    // an agent has set a reminder
	Begin                  // a person has the floor: the count is 0
	Due                    // a reminder is due: the count is 0, unless the agents set it since somebody else had the floor
	Pass                   // an agent passed control: the count is 0
	Leave                  // the agents hand over because they have talked for long enough
)

// EventOf returns the meaning of an event for turn control. kind returns the type of a
// participant. AIs and other systems from outside count as agents, and so does somebody who sounds
// like an agent. What a person says counts if it addresses an agent or nobody, but not if people
// talk to each other.
func EventOf(e earshot.Event, kind func(earshot.ParticipantID) participants.Type) Event {
	switch body := e.Body.(type) {
	case earshot.Message:
		return written(e, body, kind)
	case earshot.Utterance:
		if body.LikeAgent && len(e.To) > 0 { // another machine with the same voice, as far as is known
			return Event{Kind: Word, By: e.Author, Text: body.Text}
		}
		if slices.ContainsFunc(e.To, func(id earshot.ParticipantID) bool { return kind(id).Machine() }) {
			return Event{Kind: Begin, By: e.Author}
		}
	case earshot.Reminder:
		switch {
		case body.Act == earshot.Fired:
			return Event{Kind: Due, Of: body.Of}
		case body.Act == earshot.Created && e.From.Provider == "earshot": // not somebody who wrote /remind
			return Event{Kind: Set, Of: e.ID}
		}
	case earshot.Reply:
		return replied(e, body)
	}
	return Event{}
}

func written(e earshot.Event, m earshot.Message, kind func(earshot.ParticipantID) participants.Type) Event {
	by := kind(e.Author)
	machine := func(id earshot.ParticipantID) bool { return kind(id).Machine() }
	switch {
	case by.Machine(), m.Turn != "": // an agent that was made for one task may be gone since
		return Event{Kind: Word, By: e.Author, Text: m.Text}
	case by != "" && (len(e.To) == 0 || slices.ContainsFunc(e.To, machine)):
		return Event{Kind: Begin, By: e.Author}
	}
	return Event{}
}

// replied returns the meaning of a reply. A reply without words means nothing.
func replied(e earshot.Event, r earshot.Reply) Event {
	switch {
	case r.Handover != nil && r.Handover.Why == earshot.Passed:
		return Event{Kind: Pass, By: e.Author}
	case r.Handover != nil:
		return Event{Kind: Leave, By: e.Author}
	case r.Offered == "":
		return Event{}
	}
	return Event{Kind: Word, By: e.Author, Text: r.Offered}
}

// A Budget records how much the agents of one conversation have said since somebody else had the
// floor. The zero Budget belongs to a new conversation.
type Budget struct {
	// Count is how many messages the agents have said in a row.
	Count int

	// For is the person who asked first, for whom the agents work. It is empty if that is unknown.
	For earshot.ParticipantID

	// Last is the agent that spoke last.
	Last earshot.ParticipantID

	// Over says that the agents have handed over. It is reset when somebody else has the floor.
	Over bool

	said []fingerprint // the last messages, oldest first

	// own are the reminders that the agents have set since then. If these did not count, the agents
	// could talk for ever, reminding themselves each time.
	own []earshot.EventID
}

// mostOwn is more reminders than anybody may have at a time.
const mostOwn = 64

// Take updates the budget by an event.
func (b *Budget) Take(m Event) {
	switch m.Kind {
	case Word:
		b.Count++
		b.Last = m.By
		b.said = append(b.said, fingerprintOf(m.Text))
		b.said = slices.Delete(b.said, 0, max(0, len(b.said)-window))
	case Set:
		b.own = append(b.own, m.Of)
		b.own = slices.Delete(b.own, 0, max(0, len(b.own)-mostOwn))
	case Begin:
		*b = Budget{For: m.By}
	case Due:
		if !slices.Contains(b.own, m.Of) {
			*b = Budget{For: b.For, own: b.own}
		}
	case Pass: // the messages stay; otherwise two agents could pass for ever
		b.Count, b.Over, b.Last = 0, false, m.By
	case Leave:
		b.Over = true
	}
}

// Spent reports whether agents may no longer answer each other, if limit messages in a row are
// enough.
func (b *Budget) Spent(limit int) bool { return b.Over || b.Count >= limit }

// mostCircles is how many conversations of a room are remembered: more than go on at the same time.
// Beyond that, the one that has been silent for longest is forgotten.
const mostCircles = 64

// Control is the turn control of a room, with a budget for each of its conversations. It is a
// function of the events, in their order, so it continues after a restart as if there had been
// none. The zero TurnControl is ready to use, and safe for concurrent use.
type Control struct {
	mu      sync.Mutex
	budgets map[conversation.Circle]*Budget
	order   []conversation.Circle // the one that has been silent longest first
}

// Take takes in an event of the room. It must receive each event once.
func (t *Control) Take(e earshot.Event, kind func(earshot.ParticipantID) participants.Type) {
	m := EventOf(e, kind)
	if m.Kind == Irrelevant {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.budget(conversation.CircleOf(e.Visibility)).Take(m)
}

// budget returns the budget of an active conversation. t.mu must be held.
func (t *Control) budget(c conversation.Circle) *Budget {
	b, known := t.budgets[c]
	switch {
	case known:
		i := slices.Index(t.order, c)
		t.order = append(slices.Delete(t.order, i, i+1), c)
		return b
	case t.budgets == nil:
		t.budgets = make(map[conversation.Circle]*Budget)
	case len(t.order) == mostCircles:
		delete(t.budgets, t.order[0])
		t.order = slices.Delete(t.order, 0, 1)
	}
	b = new(Budget)
	t.budgets[c], t.order = b, append(t.order, c)
	return b
}

// Of returns the current budget of the conversation in which something of visibility v is said.
func (t *Control) Of(v earshot.Visibility) Budget {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, known := t.budgets[conversation.CircleOf(v)]; known {
		now := *b
		now.said, now.own = slices.Clone(b.said), slices.Clone(b.own)
		return now
	}
	return Budget{}
}
