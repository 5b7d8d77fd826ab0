package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/llm"
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

// line is one message of the dialogue, as it was heard.
type line struct {
	event      earshot.EventID
	sequence   int64
	about      earshot.EventID // what a reply answers
	at         time.Time
	author     earshot.ParticipantID
	to         []earshot.ParticipantID
	text       earshot.Text
	note       string // what the model is told about how its reply ended, unless it ended by itself
	visibility earshot.Visibility

	from      earshot.Handle
	turn      earshot.TurnID // the turn in which an agent said it
	replies   bool           // it is a reply
	ownWords  bool           // asked with only its author's own words, or an answer to that
	announces bool           // its note says that the author has come or gone
	comes     bool           // they have come

	// For what was said aloud: by which voice, if known, and whose it turned out to be.
	aloud  bool
	voice  earshot.Handle
	whose  *earshot.Attribution
	manner earshot.Text // what the model is told about how it sounded

	answers  earshot.EventID      // the message that its author says it answers
	quoted   *citation            // that message, as it stands in the prompt
	attached []earshot.Attachment // part of the text

	continues earshot.EventID // the previous line, of the same sentence

	revised time.Time // when its author last changed it

	mends []mend // newest last
	gone  bool   // somebody has removed it
}

// A mend is a correction of what was heard, with the previous text.
type mend struct {
	edit earshot.EventID
	by   earshot.ParticipantID
	from earshot.Handle
	text earshot.Text
	gone bool
}

// mostMends is how many corrections of one line can be undone, as for an entry of the scene.
const mostMends = 8

// mended applies a correction, or the undoing of one, to what was said: the model reads the
// corrected line.
func (h *history) mended(e earshot.Event) {
	b, is := e.Body.(earshot.Edit)
	i := slices.IndexFunc(h.lines, func(l line) bool { return is && l.event == earshot.EventID(b.Item) && !l.replies && !l.announces })
	if i < 0 || e.Author == "" || scene.Field(b.Field) != scene.Messages {
		return
	}
	l := &h.lines[i]
	switch last := len(l.mends) - 1; b.Act {
	case earshot.Changed, earshot.Ended:
		l.mends = append(slices.Clip(l.mends), mend{e.ID, e.Author, e.From, l.text, l.gone})
		l.mends = slices.Delete(l.mends, 0, max(0, len(l.mends)-mostMends))
		if l.gone = b.Act == earshot.Ended; !l.gone {
			l.text = b.Text
		}
	case earshot.Undone:
		if last >= 0 && l.mends[last].edit == b.Undoes {
			l.text, l.gone, l.mends = l.mends[last].text, l.mends[last].gone, l.mends[:last]
		}
	}
}

// source returns the event that made the line what it is.
func (l line) source() earshot.EventID {
	if n := len(l.mends); n > 0 {
		return l.mends[n-1].edit
	}
	return l.event
}

// history is the dialogue of a seat, in the order in which the room admitted it; a clock that jumps
// does not change it. A reply stands behind what it answers, other replies to that and what agents
// asked one another for it, and so before the message that cut it off.
type history struct {
	agent  earshot.ParticipantID
	lines  []line
	said   []earshot.Event                        // its last replies of which something was offered
	cut    []earshot.Event                        // its replies that were cut off and can be resumed
	recent func(earshot.EventID) (citation, bool) // what is remembered besides; may be nil

	left sleepingHistory // while the agent sleeps
}

// A sleepingHistory is what a seat that sleeps knows of its dialogue: which events it was
// made of, and not what they say.
type sleepingHistory struct {
	lines []earshot.EventID // in their order
	said  []earshot.EventID
	until int64 // the newest event that there was
}

func (h *history) add(l line) {
	i := len(h.lines)
	if at := slices.IndexFunc(h.lines, func(x line) bool { return l.continues != "" && x.event == l.continues }); at >= 0 {
		i = at + 1
	}
	if l.about != "" {
		at := slices.IndexFunc(h.lines, func(x line) bool { return x.event == l.about })
		if at < 0 && i > 0 {
			return // it answers something that has been forgotten
		}
		i = at + 1
		for k := i; k < len(h.lines); k++ {
			if x := h.lines[k]; x.about == l.about || l.turn != "" && x.turn == l.turn {
				i = k + 1
			}
		}
	}
	h.lines = slices.Insert(h.lines, i, l)
	for len(h.lines)-h.announcements() > keepLines || (h.bytes() > keepBytes && len(h.lines) > 1) {
		h.drop(dropLines)
	}
}

// has reports whether an event is part of the dialogue.
func (h *history) has(e earshot.EventID) bool {
	return slices.ContainsFunc(h.lines, func(l line) bool { return l.event == e })
}

// drop forgets the n oldest lines, but never the newest.
func (h *history) drop(n int) {
	h.lines = slices.Delete(h.lines, 0, min(n, len(h.lines)-1))
}

// remove forgets one line.
func (h *history) remove(i int) { h.lines = slices.Delete(h.lines, i, i+1) }

func (h *history) bytes() int {
	n := 0
	for _, l := range h.lines {
		n += len(l.text) + len(l.note)
	}
	return n
}

// prompt returns what everybody in a may see of the dialogue, as the model of the agent self reads
// it at now, and the lines used. If several agents sit here, it says for whom each message is; and
// how long ago it was said, where that differs.
func (h *history) prompt(a earshot.Audience, self earshot.ParticipantID, name func(earshot.ParticipantID) string, several bool, now time.Time) (out []llm.Message, used []line) {
	before := ""
	for _, l := range h.lines {
		if !l.visibility.Allows(a) || l.gone {
			continue
		}
		l.quoted = h.cites(l, a)
		used = append(used, l)
		if l.author != self && !l.announces {
			l.text = whole(used)
		}
		if l.text != used[len(used)-1].text {
			out = out[:len(out)-1] // the same sentence, in an earlier state
		} else if when := ago(l.at, now); when != before {
			out, before = append(out, dated(when)), when
		}
		if l.author != self && !l.announces {
			out = append(out, l.asked(name, several))
			continue
		}
		if l.text != "" {
			out = append(out, llm.Message{Role: llm.Assistant, Text: conversation.Escape(string(l.text))})
		}
		if l.note != "" {
			out = append(out, llm.Message{Role: llm.User, Text: conversation.Envelope{From: "System", Text: earshot.Text(l.note)}.String()})
		}
	}
	return out, used
}

// asked returns a message of somebody else, as the model reads it.
func (l line) asked(name func(earshot.ParticipantID) string, several bool) llm.Message {
	envelope := conversation.Envelope{From: name(l.speaker()), Text: l.quoted.among(name) + l.text + l.manner}
	if n := len(l.mends); n > 0 && name(l.mends[n-1].by) != envelope.From { // these are then the words of whoever corrected it
		envelope.Text += earshot.Text(" (corrected: these words are " + name(l.mends[n-1].by) + "'s)")
	}
	for _, id := range l.to {
		if several {
			envelope.To = append(envelope.To, name(id))
		}
	}
	return llm.Message{Role: llm.User, Text: envelope.String()}
}

// whole returns the text of the sentence that ends with the last of some lines.
func whole(lines []line) earshot.Text {
	n := len(lines) - 1
	l := lines[n]
	if n == 0 || l.continues == "" || l.continues != lines[n-1].event {
		return l.text
	}
	if by, before := l.speaker(), lines[n-1].speaker(); by != before && by != "" && before != "" {
		return l.text // they turned out to be two sentences
	}
	return joined(whole(lines[:n]), lines[n].text)
}

// waited returns the line of event e among the lines of a prompt, if the last word is that of the
// agent self: while e waited, another agent asked it.
func waited(used []line, e earshot.EventID, self earshot.ParticipantID) (l line, ok bool) {
	i := slices.IndexFunc(used, func(l line) bool { return l.event == e })
	if i < 0 {
		return line{}, false
	}
	last := used[len(used)-1]
	l = used[i]
	l.text = whole(used[:i+1])
	return l, last.author == self && !last.announces
}

// ended returns what the model is told about how its reply ended, or "" if it ended by itself and
// was heard.
func ended(r earshot.Reply, name func(earshot.ParticipantID) string) string {
	by, note := outcome(r)
	if by != "" {
		return name(by) + " " + note
	}
	return note
}

// outcome returns the same, without the name of the person responsible.
func outcome(r earshot.Reply) (by earshot.ParticipantID, note string) {
	where := " there."
	if r.Delivered() == "" {
		where = " before you said anything."
	}
	switch {
	case r.Cut != nil && r.Cut.Signal == interrupt.Shutdown.String():
		return "", "You were switched off" + where
	case r.Cut != nil && r.Cut.By == "":
		return "", "somebody cut you off" + where
	case r.Cut != nil:
		return r.Cut.By, "cut you off" + where
	case r.Offered == "":
		return "", ""
	case r.Delivered() == "":
		return "", "You answered, but nobody heard it."
	case r.Outcome == earshot.Failed:
		return "", "Your reply broke off there."
	}
	return "", ""
}

// lately returns the dialogue as it is read out.
func (h *history) lately(a earshot.Audience, name func(earshot.ParticipantID) string) []reflex.Line {
	var out []reflex.Line
	var said []line
	for _, l := range h.lines {
		if !l.visibility.Allows(a) || l.text == "" || l.gone {
			continue
		}
		said = append(said, l)
		if text := whole(said); text != l.text {
			out[len(out)-1].Text = text
			continue
		}
		out = append(out, reflex.Line{Name: name(l.speaker()), Text: l.text, At: l.at})
	}
	return out
}

// revised takes in that something was said by somebody else than was thought. It says
// what they are called, and nothing of what they may do: that stays as it was.
func (h *history) revised(e earshot.Event) {
	w, is := e.Body.(earshot.Attribution)
	i := slices.IndexFunc(h.lines, func(l line) bool { return is && l.event == w.Of && l.aloud })
	if i >= 0 {
		h.lines[i].whose = &w
	}
}

// speaker returns whose words a line is, as far as anybody knows.
func (l line) speaker() earshot.ParticipantID {
	if l.whose != nil {
		return l.whose.Author
	}
	return l.author
}

// reworded makes a line what its message was revised to.
func (h *history) reworded(at time.Time, b earshot.Revision) {
	for i := range h.lines {
		if l := &h.lines[i]; l.event == b.Of && !l.replies {
			l.revised = at
			l.text, l.mends, l.gone = earshot.Message{Text: b.Text, Attachments: l.attached}.Whole(), nil, false
		}
	}
}

// forget takes out the lines of events that are erased, and the replies.
func (h *history) forget(is func(earshot.EventID) bool) {
	h.lines = slices.DeleteFunc(h.lines, func(l line) bool { return is(l.event) })
	erased := func(reply earshot.Event) bool { return is(reply.ID) }
	h.said, h.cut = slices.DeleteFunc(h.said, erased), slices.DeleteFunc(h.cut, erased)
}
