package console

import (
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

// mostWorks is how many unanswered messages between agents are remembered: agents ask one another
// four deep.
const mostWorks = 16

// An agentRequest is an unanswered message by which one agent asked another.
type agentRequest struct {
	id   earshot.EventID
	turn earshot.TurnID
	of   string // the name of the agent that was asked
}

// exchange shows what one agent wrote to another. It is not meant for the reader, so it has both
// names at the left, and says whose answer is awaited. No text can imitate that, since the marks
// at the left are ours.
func (c *Console) exchange(e earshot.Event, m earshot.Message) {
	head := c.who(e)
	if e.Visibility.Scope == earshot.Private {
		head += " (private)"
	}
	text := strings.TrimSpace(string(m.Text))
	if len(e.To) == 1 {
		text = Uncalled(text, c.cfg.Name(e.To[0]))
	}
	c.term.After(terminal.Line{Head: head + " → " + c.names(e.To) + ": ", Text: text, Quiet: true})
	waits := ""
	if m.About == "" {
		waits = c.names(e.To)
		c.works.add(agentRequest{e.ID, m.Turn, waits}, mostWorks)
	} else {
		waits = c.works.drop(func(one agentRequest) bool { return one.id == m.About }).of
	}
	if waits != "" {
		waits += " is at work on it"
	}
	c.term.Wait(waits)
}

// deed shows what an agent did besides talking.
func (c *Console) deed(e earshot.Event, what earshot.Text) {
	if what != "" {
		c.term.After(terminal.Line{Text: c.who(e) + " " + string(what), Quiet: true})
	}
}

// by says who did something, if anybody is named.
func (c *Console) by(e earshot.Event) string {
	if e.Author == "" {
		return ""
	}
	return " (by " + c.who(e) + ")"
}
