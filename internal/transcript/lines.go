package transcript

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/internal/english"
	"earshot/internal/terminal"
	outlet "earshot/outlets/console"
)

// InOrder puts each reply behind what it answers, other replies to that and what
// was done for it, and so before the message that cut it off, after which it ended.
// What people said at the same time stands in the order in which they began, and not in
// that in which it was understood.
func InOrder(events []earshot.Event) []earshot.Event {
	var out []earshot.Event
	for _, e := range events {
		at := len(out)
		switch body := e.Body.(type) {
		case earshot.Reply:
			for i, x := range slices.Backward(out) {
				if behind(body, x) {
					at = i + 1
					break
				}
			}
		case earshot.Utterance:
			for at > 0 && out[at-1].Body.Kind() == earshot.KindUtterance && out[at-1].At.After(e.At) {
				at--
			}
		}
		out = slices.Insert(out, at, e)
	}
	return out
}

// behind reports whether a reply stands behind an event, of those before it.
func behind(r earshot.Reply, x earshot.Event) bool {
	other, ok := x.Body.(earshot.Reply)
	return r.About != "" && (x.ID == r.About || ok && other.About == r.About) || r.Turn != "" && turnOf(x) == r.Turn
}

// turnOf returns in which turn something was done that is no reply.
func turnOf(e earshot.Event) earshot.TurnID {
	switch body := e.Body.(type) {
	case earshot.Message:
		return body.Turn
	case earshot.Use:
		return body.Turn
	}
	return ""
}

// Print prints one event: when, who, what, and of a reply that was not heard
// to its end, how it ended and what is left of it.
func Print(w io.Writer, e earshot.Event, name func(earshot.ParticipantID) string) {
	text, ok := Line(e, name)
	if !ok {
		return
	}
	who, secret := name(e.Author), e.Visibility.Scope == earshot.Private
	switch body := e.Body.(type) {
	case earshot.Message:
		if body.Turn != "" && len(e.To) > 0 { // between agents; a text cannot look so
			who += " → " + name(e.To[0])
			text = outlet.Uncalled(text, name(e.To[0]))
		}
	case earshot.Utterance:
		if e.Author != "" && body.Sure > 0 && body.Sure < doubtful {
			who += "?"
		}
	case earshot.Agent:
		who, secret = name(body.ID), false // the profile is; that it is there all know
	case earshot.Sight:
		who = body.Camera
	}
	if secret {
		text = among(e.To, name) + " " + text
	}
	fmt.Fprintf(w, "%s  %-10s %s\n", english.When(e.At), terminal.Safe(who), Indent(terminal.Safe(strings.TrimSpace(text))))
}

// Line says in words what an event was, if there is anything to be said.
func Line(e earshot.Event, name func(earshot.ParticipantID) string) (string, bool) {
	switch body := e.Body.(type) {
	case earshot.Message:
		return edited(body), true
	case earshot.Utterance:
		text := string(body.Text)
		if body.Continues != "" {
			text = "… " + text
		}
		if body.LikeAgent {
			text += " [sounds like me]"
		}
		switch {
		case len(e.To) > 0:
		case body.Own > 0 && conversation.Murmured(body.Text):
			text += " [while I spoke]"
		default:
			text += " [not to me]"
		}
		return text, true
	case earshot.Reply:
		return string(body.Delivered()) + " " + ended(body, name) + handed(body, name), body.Outcome != earshot.Suppressed || body.Offered != ""
	case earshot.Presence:
		return passage(body), true
	case earshot.ModeChange:
		return fmt.Sprintf("[the room is %s]", body.Tells()), true
	case earshot.Snooze:
		return "[" + body.Means() + "]", true
	case earshot.Memo:
		return "[to keep in mind] " + string(body.Text), true
	case earshot.Edit:
		what := string(body.Deed())
		return "[" + what + "]", what != "" && e.Author != ""
	case earshot.Use:
		what := string(body.Deed())
		return "[" + what + "]", what != ""
	case earshot.Reminder:
		what := string(body.Deed(e.At, namesOf(e.To, name)))
		return "[" + what + "]", what != ""
	case earshot.Schedule:
		what := string(body.Deed(namesOf(e.To, name)))
		return "[" + what + "]", what != ""
	case earshot.Sight:
		what := string(body.Words())
		return "[" + what + "]", what != ""
	case earshot.Agent:
		return "[" + body.Fate() + by(e.Author, name) + "]", true
	}
	return "", false
}

// by says who did something, if it was somebody.
func by(id earshot.ParticipantID, name func(earshot.ParticipantID) string) string {
	if id == "" {
		return ""
	}
	return ", by " + name(id)
}

// passage says that somebody came or went.
func passage(p earshot.Presence) string {
	text := map[bool]string{true: "[has joined", false: "[has left"}[p.Here]
	if p.Times > 0 {
		text += ", having come and gone " + english.Count(p.Times, "time") + " meanwhile"
	}
	return text + "]"
}

// among says to whom alone something was said.
func among(to []earshot.ParticipantID, name func(earshot.ParticipantID) string) string {
	if len(to) == 0 {
		return "(private)"
	}
	return "(private, to " + namesOf(to, name) + ")"
}

// namesOf returns what some are called.
func namesOf(ids []earshot.ParticipantID, name func(earshot.ParticipantID) string) string {
	var names []string
	for _, id := range ids {
		names = append(names, name(id))
	}
	return strings.Join(names, ", ")
}

// ended says how a reply ended, if not at its end.
func ended(r earshot.Reply, name func(earshot.ParticipantID) string) string {
	rest := strings.TrimSpace(string(r.Remainder()))
	switch {
	case r.Cut != nil && rest == "":
		return fmt.Sprintf("[cut off by %s]", name(r.Cut.By))
	case r.Cut != nil:
		return fmt.Sprintf("[cut off by %s; not heard: %s]", name(r.Cut.By), rest)
	case r.Outcome == earshot.Failed && rest == "":
		return "[it failed here]"
	case rest != "":
		return fmt.Sprintf("[not heard: %s]", rest)
	}
	return ""
}

// handed says why a reply leaves the floor to a person, if it does.
func handed(r earshot.Reply, name func(earshot.ParticipantID) string) string {
	if r.Handover == nil {
		return ""
	}
	return "[the floor is for " + name(r.Handover.To) + ": " + r.Handover.Why.Means() + "]"
}

// Indent keeps the lines of a message below each other.
func Indent(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 21))
}
