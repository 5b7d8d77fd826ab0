package console

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
)

// Show implements [earshot.Board]. What came in beside this outlet is not
// shown, since whoever wrote it has seen it.
func (c *Console) Show(e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Message:
		switch {
		case e.Via == c.cfg.Outlet && e.Sequence == 0:
			c.term.Settle(e.ID) // off the record: nothing comes of it
		case e.Via != c.cfg.Outlet:
			c.term.Note(terminal.Line{Head: c.who(e) + ": ", Text: string(b.Text)})
		}
	case earshot.Utterance:
		c.overheard.Store(nil)
		if len(e.To) == 0 {
			c.overheard.Store(&e.ID)
		}
		c.term.Note(terminal.Line{Head: c.cfg.Name(e.Author) + ": ", Text: string(b.Text), Quiet: len(e.To) == 0})
	case earshot.Notice:
		c.term.Note(notice(b))
	case earshot.Reply:
		c.reply(b)
	case earshot.Decision:
		c.decision(b)
	}
}

// who returns the name of who wrote e.
func (c *Console) who(e earshot.Event) string {
	if e.Author == "" {
		return e.From.String()
	}
	return c.cfg.Name(e.Author)
}

// notice returns a notice with its cure on a row of its own.
func notice(n earshot.Notice) terminal.Line {
	l := terminal.Line{Text: n.Text}
	switch {
	case n.Over:
		l.Head = "✓ "
	case n.Key != "": // without one it is only an answer
		l.Head = "! "
	}
	switch {
	case n.Cure == "":
	case l.Head == "":
		l.Text += "\n  → " + n.Cure
	default: // which has a margin
		l.Text += "\n→ " + n.Cure
	}
	return l
}

// reply says what became of a reply that did not come to its end.
func (c *Console) reply(r earshot.Reply) {
	c.term.Settle(r.About)
	how := map[earshot.Outcome]string{earshot.Interrupted: "cut off", earshot.Failed: "broken off"}[r.Outcome]
	switch rest := r.Remainder(); {
	case r.Outcome == earshot.Completed && r.Truncated:
		c.quietly("(it had more to say than executive.conversational.max_tokens allows)")
	case r.Outcome == earshot.Failed && r.Offered == "":
		c.quietly("(no reply)")
	case r.Outcome == earshot.Failed && rest == "":
		c.quietly("(broken off)") // a cut leaves its mark, a model that breaks does not
	case how != "" && rest != "":
		said, all := utf8.RuneCountInString(string(r.Delivered())), utf8.RuneCountInString(string(r.Offered))
		c.quietly(fmt.Sprintf("(%s after %d of %d characters; the rest is kept: ask \"what were you saying?\")", how, said, all))
	}
}

// decision says that an agent keeps silent, and why.
func (c *Console) decision(d earshot.Decision) {
	if d.Verdict == earshot.Speak {
		return
	}
	c.term.Settle(d.About)
	if about := c.overheard.Load(); about != nil && *about == d.About {
		return // that nobody spoke to the agent is to be seen from the line itself
	}
	why := ""
	if len(d.Reasons) > 0 {
		why = ": " + strings.Join(d.Reasons, ", ")
	}
	c.quietly(fmt.Sprintf("(%s says nothing%s)", c.cfg.Name(d.Agent), why))
}

func (c *Console) quietly(text string) {
	c.term.Note(terminal.Line{Text: text, Quiet: true})
}
