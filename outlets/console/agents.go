package console

import (
	"slices"
	"strings"
	"sync"

	"earshot"
	"earshot/internal/terminal"
)

// mostWorks is how many messages between agents are known to be without an
// answer: they ask one another four deep.
const mostWorks = 16

// An agentRequest is a message by which one agent asked another, which has not answered.
type agentRequest struct {
	id   earshot.EventID
	turn earshot.TurnID
	of   string // the name of who was asked
}

// agentRequests are those of the turn that is live. The zero value is ready.
type agentRequests struct {
	mu  sync.Mutex
	all []agentRequest // the newest last
}

func (w *agentRequests) begin(one agentRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) == mostWorks {
		w.all = slices.Delete(w.all, 0, 1)
	}
	w.all = append(w.all, one)
}

// answered returns whose answer is waited for after that to a message came, or
// nothing.
func (w *agentRequests) answered(id earshot.EventID) string {
	return w.drop(func(one agentRequest) bool { return one.id == id })
}

// end forgets what a turn left open.
func (w *agentRequests) end(turn earshot.TurnID) {
	w.drop(func(one agentRequest) bool { return one.turn == turn })
}

func (w *agentRequests) drop(over func(agentRequest) bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, over)
	if len(w.all) == 0 {
		return ""
	}
	return w.all[len(w.all)-1].of
}

// exchange shows what one agent wrote to another: whoever reads is not meant, so
// it has both names at the left, and says whose answer is waited for. That it is
// so no text can claim, for the marks at the left are the house's.
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
		c.works.begin(agentRequest{e.ID, m.Turn, waits})
	} else {
		waits = c.works.answered(m.About)
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

// by says who did something, if it was somebody.
func (c *Console) by(e earshot.Event) string {
	if e.Author == "" {
		return ""
	}
	return " (by " + c.who(e) + ")"
}
