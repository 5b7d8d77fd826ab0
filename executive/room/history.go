package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/reflex"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

const (
	// A seat's dialogue is 50 messages (seed 003). When there are more, ten go
	// at once: the prompt then begins the same for the next ten, and a server
	// that keeps the beginning in memory need not read it again.
	keepLines = 50
	dropLines = 10

	// The dialogue is also bounded in bytes, to some 6,000 tokens: small models
	// are run with contexts of 8,192.
	keepBytes = 24 << 10
)

// line is one message of the dialogue, as it was heard.
type line struct {
	event      earshot.EventID
	at         time.Time
	author     earshot.ParticipantID
	text       earshot.Text
	cut        *earshot.Interruption // if it was cut off
	visibility earshot.Visibility
}

// history is the dialogue of the seat, in the order in which things began: the
// reply that a message cut off stands before that message, although it ended
// after it.
type history struct{ lines []line }

func (h *history) add(l line) {
	i := len(h.lines)
	for i > 0 && h.lines[i-1].at.After(l.at) {
		i--
	}
	h.lines = slices.Insert(h.lines, i, l)
	for len(h.lines) > keepLines || (h.bytes() > keepBytes && len(h.lines) > 1) {
		h.drop(dropLines)
	}
}

// drop forgets the n oldest lines, but never the newest.
func (h *history) drop(n int) {
	h.lines = slices.Delete(h.lines, 0, min(n, len(h.lines)-1))
}

func (h *history) bytes() int {
	n := 0
	for _, l := range h.lines {
		n += len(l.text)
	}
	return n
}

// prompt returns what everybody in a may see of the dialogue, as the model
// reads it.
func (h *history) prompt(a earshot.Audience, name func(earshot.ParticipantID) string) []llm.Message {
	var out []llm.Message
	for _, l := range h.lines {
		if !l.visibility.Allows(a) {
			continue
		}
		if l.author != participants.Agent {
			out = append(out, llm.Message{Role: llm.User, Text: conversation.Envelope(name(l.author), l.text)})
			continue
		}
		if l.text != "" {
			out = append(out, llm.Message{Role: llm.Assistant, Text: string(l.text)})
		}
		if l.cut != nil {
			out = append(out, llm.Message{Role: llm.User, Text: conversation.Envelope("System", cutNote(l, name))})
		}
	}
	return out
}

// cutNote tells the model by whom it was cut off.
func cutNote(l line, name func(earshot.ParticipantID) string) earshot.Text {
	who := name(l.cut.By) + " cut you off"
	if l.cut.Signal == interrupt.Shutdown.String() {
		who = "You were switched off"
	}
	if l.text == "" {
		return earshot.Text(who + " before you said anything.")
	}
	return earshot.Text(who + " there.")
}

// lately returns the dialogue as it is read out.
func (h *history) lately(a earshot.Audience, name func(earshot.ParticipantID) string) []reflex.Line {
	var out []reflex.Line
	for _, l := range h.lines {
		if l.visibility.Allows(a) && l.text != "" {
			out = append(out, reflex.Line{Name: name(l.author), Text: l.text, At: l.at})
		}
	}
	return out
}
