// Package dialogue holds what one agent has heard and said in one room: the lines that its model
// reads, the replies that can be resumed, and what remains of them while the agent sleeps.
//
// A [History] is built only from events, so it can be rebuilt from the journal. It is plain state
// that belongs to the owner of its room. Who may read which line is checked when a prompt is built,
// see [History.Prompt].
package dialogue

import (
	"slices"
	"time"

	"earshot"
	"earshot/participants"
)

const (
	// A seat's dialogue is 50 messages. When there are more, ten are dropped at once: the prompt
	// then begins the same for the next ten, and a server that caches the beginning need not read
	// it again.
	keepLines = 50
	dropLines = 10

	// The dialogue is also bounded in bytes, to some 6,000 tokens: small models are run with
	// contexts of 8,192.
	keepBytes = 24 << 10
)

// Line is one message of the dialogue, as the agent heard it.
type Line struct {
	Event      earshot.EventID
	Sequence   int64
	About      earshot.EventID // what a reply answers
	At         time.Time
	Author     earshot.ParticipantID
	To         []earshot.ParticipantID
	Text       earshot.Text
	Note       string // what the model is told about how its reply ended; empty if the reply ended by itself
	Visibility earshot.Visibility

	From      earshot.Handle
	Turn      earshot.TurnID // the turn in which an agent said it
	Replies   bool           // it is a reply
	OwnWords  bool           // asked with only its author's own words, or an answer to such a question
	Announces bool           // its note says that the author has come or left
	comes     bool           // the author has come

	// For what was said aloud: the voice, if it is known, and the person whose voice it turned out
	// to be.
	Aloud  bool
	Voice  earshot.Handle
	whose  *earshot.Attribution
	manner earshot.Text // what the model is told about how it sounded

	answers  earshot.EventID      // the message that its author says it answers
	Quoted   *Citation            // that message, as the prompt shows it
	attached []earshot.Attachment // part of the text

	continues earshot.EventID // the previous line, if it belongs to the same sentence

	// Beyond is what the agent's own words rest on and is not in the dialogue: facts, files, and what else
	// its tools found.
	Beyond []earshot.EventID

	Revised time.Time // when its author last changed it

	Mends []Mend // newest last
	gone  bool   // somebody has removed it
}

// A Mend is a correction of what was heard, with the previous text.
type Mend struct {
	Edit earshot.EventID
	By   earshot.ParticipantID
	From earshot.Handle
	text earshot.Text
	gone bool
}

// mostMends is how many corrections of one line can be undone, as for an entry of the scene.
const mostMends = 8

// mended applies a correction of what was said, the undoing of one, or that something was said by
// another person than was thought: that changes the name on the line, but not its rights. The model
// reads the corrected line.
func (h *History) mended(e earshot.Event) {
	if w, is := e.Body.(earshot.Attribution); is {
		if i := slices.IndexFunc(h.Lines, func(l Line) bool { return l.Event == w.Of && l.Aloud }); i >= 0 {
			h.Lines[i].whose = &w
		}
		return
	}
	b, is := e.Body.(earshot.Edit)
	i := slices.IndexFunc(h.Lines, func(l Line) bool { return is && l.Event == earshot.EventID(b.Item) && !l.Replies && !l.Announces })
	if i < 0 || e.Author == "" || b.Field != earshot.MessagesField {
		return
	}
	l := &h.Lines[i]
	switch last := len(l.Mends) - 1; b.Act {
	case earshot.Changed, earshot.Ended:
		l.Mends = append(slices.Clip(l.Mends), Mend{e.ID, e.Author, e.From, l.Text, l.gone})
		l.Mends = slices.Delete(l.Mends, 0, max(0, len(l.Mends)-mostMends))
		if l.gone = b.Act == earshot.Ended; !l.gone {
			l.Text = b.Text
		}
	case earshot.Undone:
		if last >= 0 && l.Mends[last].Edit == b.Undoes {
			l.Text, l.gone, l.Mends = l.Mends[last].text, l.Mends[last].gone, l.Mends[:last]
		}
	}
}

// Source returns the event that gave the line its present form.
func (l Line) Source() earshot.EventID {
	if n := len(l.Mends); n > 0 {
		return l.Mends[n-1].Edit
	}
	return l.Event
}

// History is the dialogue of a seat, in the order in which the room admitted it; a clock that jumps
// does not change that. A reply follows what it answers, other replies to that, and what agents
// asked one another for it. So it precedes the message that cut it off.
type History struct {
	Agent  earshot.ParticipantID
	Lines  []Line
	said   []earshot.Event                        // its last replies of which something was offered
	cut    []earshot.Event                        // its replies that were cut off and can be resumed
	Recent func(earshot.EventID) (Citation, bool) // other events that are remembered; may be nil

	left sleepingHistory // what remains of the dialogue while the agent sleeps
}

// A sleepingHistory is what a sleeping seat remembers of its dialogue: the events it was made from,
// but not their text.
type sleepingHistory struct {
	lines []earshot.EventID // in order
	said  []earshot.EventID
	until int64 // the newest event at that time
}

// Add puts a line where it belongs, unless it answers something that has been forgotten, and drops
// the oldest lines if there are too many.
func (h *History) Add(l Line) {
	i := len(h.Lines)
	if at := slices.IndexFunc(h.Lines, func(x Line) bool { return l.continues != "" && x.Event == l.continues }); at >= 0 {
		i = at + 1
	}
	if l.About != "" {
		at := slices.IndexFunc(h.Lines, func(x Line) bool { return x.Event == l.About })
		if at < 0 && i > 0 {
			return // it answers something that has been forgotten
		}
		i = at + 1
		for k := i; k < len(h.Lines); k++ {
			if x := h.Lines[k]; x.About == l.About || l.Turn != "" && x.Turn == l.Turn {
				i = k + 1
			}
		}
	}
	h.Lines = slices.Insert(h.Lines, i, l)
	for len(h.Lines)-h.announcements() > keepLines || (h.bytes() > keepBytes && len(h.Lines) > 1) {
		h.Lines = slices.Delete(h.Lines, 0, min(dropLines, len(h.Lines)-1)) // never the newest
	}
}

// has reports whether an event is part of the dialogue.
func (h *History) has(e earshot.EventID) bool {
	return slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Event == e })
}

// beyond returns what the agent's own words rest on and is not in the dialogue yet, as far as everybody
// reads that who may read them.
func (h *History) beyond(e earshot.Event) (all []earshot.EventID) {
	if e.Author != h.Agent {
		return nil
	}
	for _, id := range e.Sources {
		if !slices.ContainsFunc(h.Lines, func(l Line) bool {
			return l.Event == id || l.Visibility.Reaches(e.Visibility) && slices.Contains(l.Beyond, id)
		}) {
			all = append(all, id)
		}
	}
	return all
}

// remove forgets one line.
func (h *History) remove(i int) { h.Lines = slices.Delete(h.Lines, i, i+1) }

func (h *History) bytes() int {
	n := 0
	for _, l := range h.Lines {
		n += len(l.Text) + len(l.Note)
	}
	return n
}

// Speaker returns by whom a line was said, as far as that is known.
func (l Line) Speaker() earshot.ParticipantID {
	if l.whose != nil {
		return l.whose.Author
	}
	return l.Author
}

// Revise gives a line the revised text of its message.
func (h *History) Revise(at time.Time, b earshot.Revision) {
	for i := range h.Lines {
		if l := &h.Lines[i]; l.Event == b.Of && !l.Replies {
			l.Revised = at
			l.Text, l.Mends, l.gone = earshot.Message{Text: b.Text, Attachments: l.attached}.Whole(), nil, false
		}
	}
}

// Forget removes the lines and replies of erased events.
func (h *History) Forget(is func(earshot.EventID) bool) {
	h.Lines = slices.DeleteFunc(h.Lines, func(l Line) bool { return is(l.Event) })
	erased := func(reply earshot.Event) bool { return is(reply.ID) }
	h.said, h.cut = slices.DeleteFunc(h.said, erased), slices.DeleteFunc(h.cut, erased)
}

// With returns a copy of the history with an event that is not on record yet. h stays unchanged.
func (h *History) With(e earshot.Event, people *participants.Registry) History {
	with := *h
	with.Lines = slices.Clone(h.Lines)
	if l, ok := with.Line(e, people); ok {
		with.Add(l)
	}
	return with
}
