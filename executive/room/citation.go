package room

import (
	"slices"

	"earshot"
)

// longestCitation is how much is quoted of a message that another answers, in bytes: enough
// to know it again.
const longestCitation = 120

// A citation is a message that another answers.
type citation struct {
	event      earshot.EventID
	by         earshot.ParticipantID
	text       earshot.Text
	visibility earshot.Visibility
}

// among returns the citation as it stands before what answers it; nothing if there is none.
func (c *citation) among(name func(earshot.ParticipantID) string) earshot.Text {
	if c == nil || c.text == "" {
		return ""
	}
	return earshot.Text("(in answer to "+name(c.by)+", who wrote ") + earshot.Text(quotation(earshot.Text(beginning(string(c.text), longestCitation)))) + ") "
}

// cites returns what a line answers, if everybody in a may see that; nil if it answers
// nothing that is remembered.
func (h *history) cites(l line, a earshot.Audience) *citation {
	if l.answers == "" {
		return nil
	}
	c, known := citation{}, false
	if i := slices.IndexFunc(h.lines, func(x line) bool { return x.event == l.answers && !x.gone }); i >= 0 {
		x := h.lines[i]
		c, known = citation{x.event, x.speaker(), x.text, x.visibility}, true
	} else if h.recent != nil {
		c, known = h.recent(l.answers)
	}
	if !known || !c.visibility.Allows(a) {
		return nil
	}
	return &c
}
