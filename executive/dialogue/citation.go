package dialogue

import (
	"slices"

	"earshot"
)

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
