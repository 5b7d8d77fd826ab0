package discord

import (
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/discord/compose"
)

// The bounds of names, of what somebody wrote elsewhere, and of the daemon's own text, which may be
// the answer to a command. All are in characters.
const (
	longestName   = 80
	longestLine   = 1500
	longestNotice = 6000
)

// Show implements [earshot.Board]: it shows what concerns the people of the channel and what they
// cannot see otherwise. That is what somebody wrote to them from elsewhere, changes of their room,
// calls that reached nobody, and missing replies. Notices about parts of the daemon are shown
// where those parts are.
func (t *Text) Show(e earshot.Event) {
	if line := t.line(e); line != "" {
		t.lines.Add(line)
	}
}

// line returns an event as it is shown, or "" if it is not.
func (t *Text) line(e earshot.Event) string {
	switch b := e.Body.(type) {
	case earshot.Message:
		if e.From.Provider == TextName || b.Turn != "" {
			return ""
		}
		who := "somebody"
		if e.Author != "" {
			who = t.cfg.Called(e.Author)
		}
		return fmt.Sprintf("**%s** (%s): %s", compose.Escape(compose.Shorten(who, longestName)), compose.Escape(e.From.Provider), compose.Escape(compose.Shorten(string(b.Text), longestLine)))
	case earshot.ModeChange:
		return small(fmt.Sprintf("The room is %s: %s.", b.Tells(), b.Mode.Means()))
	case earshot.Snooze:
		return small(b.Means() + ".")
	case earshot.Notice:
		if b.Key == "" || b.Key == earshot.HintKey || strings.HasPrefix(b.Key, TextName) {
			return small(strings.TrimSpace(b.Text + "\n" + b.Cure))
		}
	case earshot.Reply:
		if b.Outcome == earshot.Failed && b.Delivered() == "" {
			return small("(no reply from " + t.cfg.Called(e.Author) + ": " + failure(b.Fault) + ")")
		}
	}
	return ""
}

// failures describes what went wrong, by the kind with which a fault ends.
var failures = []struct{ kind, says string }{
	{"unreachable", "the model does not answer"},
	{"no model", "its model is not there"},
	{"unsupported", "the model cannot do that"},
	{"too long", "that is too much for the model"},
	{"template", "the model does not take what it is asked"},
	{"no memory", "there is no memory for the model"},
	{"disk full", "there is no room for the model"},
	{"stalled", "the model did not answer in time"},
	{"broken", "the model broke off"},
	{"refused", "the model's server refused the key"},
	{"busy", "the model has too much to do"},
	{"bad answer", "the model's server does not answer as it should"},
}

// failure tells the channel what went wrong. The part of the fault before the kind says where the
// engine is, which is not for the channel.
func failure(fault string) string {
	for _, f := range failures {
		if strings.HasSuffix(fault, ": "+f.kind) {
			return f.says
		}
	}
	return "something went wrong here"
}

// small returns a text of the daemon in small print.
func small(text string) string { return compose.SmallPrint(compose.Shorten(text, longestNotice)) }
