package dialogue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/llm"
)

// Prompt returns what everybody in a may see of the dialogue, as the model of the agent self reads
// it at now, and the lines it used. If several is set, each message says for whom it is. Where it
// differs from the message before, the age of a message is given.
func (h *History) Prompt(a earshot.Audience, self earshot.ParticipantID, name func(earshot.ParticipantID) string, several bool, now time.Time) (out []llm.Message, used []Line) {
	before := ""
	for _, l := range h.Lines {
		if !l.Visibility.Allows(a) || l.gone {
			continue
		}
		l.Quoted = h.cites(l, a)
		used = append(used, l)
		if l.Author != self && !l.Announces {
			l.Text = whole(used)
		}
		if l.Text != used[len(used)-1].Text {
			out = out[:len(out)-1] // the same sentence, in an earlier state
		} else if when := ago(l.At, now); when != before {
			out, before = append(out, dated(when)), when
		}
		if l.Author != self && !l.Announces {
			out = append(out, l.Message(name, several))
			continue
		}
		if l.Text != "" {
			out = append(out, llm.Message{Role: llm.Assistant, Text: conversation.Escape(string(l.Text))})
		}
		if l.Note != "" {
			out = append(out, llm.Message{Role: llm.User, Text: conversation.Envelope{From: "System", Text: earshot.Text(l.Note)}.String()})
		}
	}
	return out, used
}

// Message returns a message by somebody else, as the model reads it.
func (l Line) Message(name func(earshot.ParticipantID) string, several bool) llm.Message {
	envelope := conversation.Envelope{From: name(l.Speaker()), Text: l.Quoted.among(name) + l.Text + l.manner}
	if n := len(l.Mends); n > 0 && name(l.Mends[n-1].By) != envelope.From { // these are the words of whoever corrected the line
		envelope.Text += earshot.Text(" (corrected: these words are " + name(l.Mends[n-1].By) + "'s)")
	}
	for _, id := range l.To {
		if several {
			envelope.To = append(envelope.To, name(id))
		}
	}
	return llm.Message{Role: llm.User, Text: envelope.String()}
}

// whole returns the text of the sentence that ends with the last of these lines.
func whole(lines []Line) earshot.Text {
	n := len(lines) - 1
	l := lines[n]
	if n == 0 || l.continues == "" || l.continues != lines[n-1].Event {
		return l.Text
	}
	if by, before := l.Speaker(), lines[n-1].Speaker(); by != before && by != "" && before != "" {
		return l.Text // they turned out to be by two speakers
	}
	return Join(whole(lines[:n]), lines[n].Text)
}

// Waited returns the line of event e among the lines of a prompt, and whether the last line, but for who
// came and went, is by the agent self. If it is, another agent asked it something while e waited, or its
// answer to e was lost.
func Waited(used []Line, e earshot.EventID, self earshot.ParticipantID) (l Line, ok bool) {
	i := slices.IndexFunc(used, func(l Line) bool { return l.Event == e })
	if i < 0 {
		return Line{}, false
	}
	last := len(used) - 1
	for last > i && used[last].Announces {
		last--
	}
	l = used[i]
	l.Text = whole(used[:i+1])
	return l, used[last].Author == self && !used[last].Announces
}

// Lately returns the dialogue as it is read out to people: the parts of a sentence are one line.
func (h *History) Lately(a earshot.Audience) (out []Line) {
	var said []Line
	for _, l := range h.Lines {
		if !l.Visibility.Allows(a) || l.Text == "" || l.gone {
			continue
		}
		said = append(said, l)
		if text := whole(said); text != l.Text {
			out[len(out)-1].Text = text
			continue
		}
		out = append(out, l)
	}
	return out
}

// tick is the step of the time from which a prompt counts back. Within a step, the prompt says the
// same about the dialogue, so a server need not read that again.
const tick = 5 * time.Minute

// ago returns how long ago something was at now, in steps that grow with the age: the older it is,
// the longer the text stays the same. For the last moments it is empty.
func ago(at, now time.Time) string {
	age := now.Truncate(tick).Sub(at)
	year, month, day := at.In(now.Location()).Date()
	days := int(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC).Sub(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	switch {
	case age < time.Minute:
		return ""
	case age < 15*time.Minute:
		return "a few minutes ago"
	case age < 45*time.Minute:
		return "about half an hour ago"
	case age < 100*time.Minute:
		return "about an hour ago"
	case age < 6*time.Hour:
		return "some hours ago"
	case days == 0:
		return "earlier today"
	case days == 1:
		return "yesterday"
	case days < 7:
		return fmt.Sprintf("%d days ago", days)
	}
	return "more than a week ago"
}

// dated returns the message that tells the model how old the following lines of the dialogue are.
// It precedes a line whose age differs from that of the line before it.
func dated(when string) llm.Message {
	text := "What follows is from " + cmp.Or(when, "just now") + "."
	return llm.Message{Role: llm.User, Text: conversation.Envelope{From: "System", Text: earshot.Text(text)}.String()}
}

// MaxCitation is how many bytes are quoted of a message that another message answers: enough to
// recognise it.
const MaxCitation = 120

// A Citation is a message that another message answers.
type Citation struct {
	Event      earshot.EventID
	By         earshot.ParticipantID
	Text       earshot.Text
	Visibility earshot.Visibility
}

// among returns the citation in the form that precedes the answer; empty if there is none.
func (c *Citation) among(name func(earshot.ParticipantID) string) earshot.Text {
	if c == nil || c.Text == "" {
		return ""
	}
	return earshot.Text("(in answer to "+name(c.By)+", who wrote ") + earshot.Text(Quote(earshot.Text(Beginning(string(c.Text), MaxCitation)))) + ") "
}

// cites returns the message that a line answers, if everybody in a may see it; nil if the line
// answers nothing that is remembered.
func (h *History) cites(l Line, a earshot.Audience) *Citation {
	if l.answers == "" {
		return nil
	}
	c, known := Citation{}, false
	if i := slices.IndexFunc(h.Lines, func(x Line) bool { return x.Event == l.answers && !x.gone }); i >= 0 {
		x := h.Lines[i]
		c, known = Citation{x.Event, x.Speaker(), x.Text, x.Visibility}, true
	} else if h.Recent != nil {
		c, known = h.Recent(l.answers)
	}
	if !known || !c.Visibility.Allows(a) {
		return nil
	}
	return &c
}
