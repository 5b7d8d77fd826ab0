package console

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
)

// Show implements [earshot.Board]. What came in beside this outlet is not shown, since its author
// has seen it. A private message is an exception, because what was typed is a command and does not
// say whom it reached.
func (c *Console) Show(e earshot.Event) {
	if p, ok := e.Body.(earshot.Presence); e.Via == c.cfg.Outlet && e.Author != "" && (!ok || p.Here) {
		c.reader.Store(e.Author)
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		if b.Turn != "" {
			c.exchange(e, b)
			return
		}
		c.message(e, b)
	case earshot.Revision:
		c.term.Note(terminal.Line{Head: c.head(e, e.Visibility.Scope == earshot.Private, false) + " (edited): ", Text: string(b.Text)})
	case earshot.Withdrawal:
		if b.Took(e.From) != earshot.KindFact { // the console never showed one
			c.quietly(c.who(e) + " took a message back")
		}
	case earshot.Utterance:
		c.asks(e, len(e.To) > 0)
		c.term.Note(terminal.Line{Head: c.cfg.Name(e.Author) + ": ", Text: string(b.Text), Quiet: len(e.To) == 0})
	case earshot.Speech:
		c.words(e, b)
	case earshot.Memo:
		c.term.Note(terminal.Line{Head: c.who(e) + " (to keep in mind): ", Text: string(b.Text)})
	case earshot.Presence:
		c.presence(e, b)
	case earshot.ModeChange:
		c.term.Note(terminal.Line{Text: fmt.Sprintf("The room is %s (by %s): %s.", b.Tells(), c.who(e), b.Mode.Means())})
	case earshot.Snooze:
		c.term.Note(terminal.Line{Text: fmt.Sprintf("%s (by %s).", b.Means(), c.who(e))})
	case earshot.Notice:
		c.term.Note(notice(b))
	case earshot.Reply:
		c.asks(e, false) // agents may answer it or not, and nobody here waits for that
		c.reply(c.cfg.Name(e.Author), b)
	case earshot.Decision:
		c.decision(b)
	case earshot.Edit:
		if e.Author != "" {
			c.deed(e, b.Deed())
		}
	case earshot.Use:
		c.deed(e, b.Deed())
	case earshot.Reminder:
		c.deed(e, b.Deed(e.At, c.names(e.To)))
	case earshot.Schedule:
		c.deed(e, b.Deed(c.names(e.To)))
	case earshot.Agent:
		c.quietly(c.name(b.ID) + " " + b.Fate() + c.by(e))
	case earshot.Sight:
		if what := b.Words(); what != "" {
			c.quietly(earshot.CameraCalled(b.Camera) + ": " + string(what))
		}
	case earshot.ErasureRecord:
		c.quietly(string(b.Words()))
	case earshot.Settled:
		c.term.Settle(b.About)
	}
}

// words shows what somebody is saying, until it becomes an utterance or comes to nothing.
func (c *Console) words(e earshot.Event, s earshot.Speech) {
	l := terminal.Line{}
	if s.Stage == earshot.VoiceWords {
		l = terminal.Line{Head: c.cfg.Name(e.Author) + ": ", Text: string(s.Words) + " …"}
	}
	c.term.Hear(e.From.String(), l)
}

// message shows what somebody wrote. An unsaved message is off the record: nothing will be added
// to it.
func (c *Console) message(e earshot.Event, m earshot.Message) {
	c.asks(e, c.here(e))
	secret, unkept := e.Visibility.Scope == earshot.Private, e.Sequence == 0
	if unkept {
		c.term.Settle(e.ID)
	}
	if e.Via == c.cfg.Outlet && !secret {
		return
	}
	c.term.Note(terminal.Line{Head: c.head(e, secret, unkept) + ": ", Text: string(m.Whole())})
}

// head says who wrote e, how, and to whom if it is secret. The recipient comes last, since the end
// is cut off if it is too long.
func (c *Console) head(e earshot.Event, secret, unkept bool) string {
	head := c.who(e)
	switch {
	case secret && unkept:
		head += " (private, off the record)"
	case secret:
		head += " (private)"
	case unkept:
		head += " (off the record)"
	}
	if secret {
		head += " → " + c.names(e.To)
	}
	return head
}

// presence says that somebody else came or went.
func (c *Console) presence(e earshot.Event, p earshot.Presence) {
	if c.here(e) {
		return
	}
	text := c.who(e) + " has left"
	if p.Here {
		text = c.who(e) + " has joined"
	}
	if p.Times > 0 {
		text += fmt.Sprintf(" (came and went %d times)", p.Times)
	}
	c.quietly(text)
}

// here reports whether e came in here, or is from the reader here.
func (c *Console) here(e earshot.Event) bool {
	return e.Via == c.cfg.Outlet || c.reads(e.Author)
}

// reads reports whether id is the reader here.
func (c *Console) reads(id earshot.ParticipantID) bool { return id != "" && c.reader.Load() == id }

// who returns the name of the author of e. For an unknown author it gives only the provider: what
// they call themselves could be anybody's name.
func (c *Console) who(e earshot.Event) string {
	if e.Author == "" {
		return "somebody (" + e.From.Provider + ")"
	}
	return c.name(e.Author)
}

// name returns the name of id, as shown to the reader here.
func (c *Console) name(id earshot.ParticipantID) string {
	if c.reads(id) {
		return "you"
	}
	return c.cfg.Name(id)
}

// names returns the names of some participants, as shown to the reader here.
func (c *Console) names(ids []earshot.ParticipantID) string {
	var all []string
	for _, id := range ids {
		all = append(all, c.name(id))
	}
	return strings.Join(all, ", ")
}

// notice returns a notice with its cure on a row of its own.
func notice(n earshot.Notice) terminal.Line {
	l := terminal.Line{Text: n.Text}
	switch {
	case n.Over:
		l.Head = "✓ "
	case n.Key != "":
		l.Head = "! "
	default: // only an answer, which may repeat what others said
		l.Head = "  "
	}
	if n.Cure != "" {
		l.Text += "\n→ " + n.Cure
	}
	return l
}

// reply says what happened to a reply that did not reach its end.
func (c *Console) reply(by string, r earshot.Reply) {
	c.works.drop(func(one agentRequest) bool { return one.turn == r.Turn })
	how := map[earshot.Outcome]string{earshot.Interrupted: "cut off", earshot.Failed: "broken off"}[r.Outcome]
	switch rest := r.Remainder(); {
	case r.Outcome == earshot.Completed && r.Truncated:
		c.quietly("(the reply reached the limit of executive.conversational.max_tokens)")
	case r.Outcome == earshot.Failed && r.Offered == "":
		text := "(no reply from " + by
		if r.Fault != "" {
			text += ": " + r.Fault
		}
		c.quietly(text + ")")
	case r.Outcome == earshot.Failed && rest == "":
		c.quietly("(broken off)") // a cut leaves its mark, a model that breaks off does not
	case how != "" && rest != "":
		said, all := utf8.RuneCountInString(string(r.Delivered())), utf8.RuneCountInString(string(r.Offered))
		text := fmt.Sprintf("(%s after %d of %d characters", how, said, all)
		if !r.Reflex || !r.Resumable.IsZero() { // what was looked up is said anew
			text += "; the rest is kept: ask \"what were you saying?\""
		}
		c.quietly(text + ")")
	}
}

// decision says that an agent stays silent, and why, if somebody waits for an answer. It says
// nothing if the line was for others or for nobody, as most talk among people is, or if it was
// from somebody who sees the decision too; and nothing about what the agent found itself, which
// nobody here knows until it is said. The same reason is given only once in a row.
func (c *Console) decision(d earshot.Decision) {
	if d.Verdict == earshot.Speak {
		c.silence.Store("")
		return
	}
	if q, ok := c.question(d.About); !ok || !q.waits || !slices.Contains(q.to, d.Agent) {
		return
	}
	why := ""
	if len(d.Reasons) > 0 {
		why = ": " + strings.Join(d.Reasons, ", ")
	}
	text := fmt.Sprintf("(%s says nothing%s)", c.cfg.Name(d.Agent), why)
	if c.silence.Swap(text) != text {
		c.quietly(text)
	}
}

func (c *Console) quietly(text string) {
	c.term.Note(terminal.Line{Text: text, Quiet: true})
}
