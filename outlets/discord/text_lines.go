package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/internal/discord/compose"
)

const (
	// mostLines is how many lines wait to be posted.
	mostLines = 8
	// between is the least time between two of the daemon's own messages: people do not come for
	// those.
	between = 5 * time.Second
	// longestLine bounds what somebody wrote elsewhere, and longestNotice the daemon's own text,
	// which may be the answer to a command. Both are in characters.
	longestLine   = 1500
	longestNotice = 6000
)

// A lineQueue holds the daemon's lines that are not posted yet.
type lineQueue struct {
	lines   []string // as they will be posted
	dropped int
	more    chan struct{} // there is a line
}

// Show implements [earshot.Board]: it shows what concerns the people of the channel and what they
// cannot see otherwise. That is what somebody wrote to them from elsewhere, changes of their room,
// calls that reached nobody, and missing replies. Notices about parts of the daemon are shown
// where those parts are.
func (t *Text) Show(e earshot.Event) {
	line := t.line(e)
	if line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.board
	if len(b.lines) == mostLines {
		b.lines = slices.Delete(b.lines, 0, 1)
		b.dropped++
		if t.cfg.Dropped != nil {
			t.cfg.Dropped(1)
		}
	}
	b.lines = append(b.lines, line)
	select {
	case b.more <- struct{}{}:
	default:
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
		return fmt.Sprintf("**%s** (%s): %s", compose.Escape(brief(who, 80)), compose.Escape(e.From.Provider), compose.Escape(brief(string(b.Text), longestLine)))
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

// small returns text as lines of Discord's small print.
func small(text string) string {
	lines := strings.Split(compose.Escape(brief(text, longestNotice)), "\n")
	for i, l := range lines {
		lines[i] = "-# " + l
	}
	return strings.Join(lines, "\n")
}

// brief shortens text to a number of characters.
func brief(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// tend posts the waiting lines, in as few messages as possible, until ctx ends.
func (t *Text) tend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.board.more:
		}
		for _, p := range compose.All(t.lines(), compose.Names{}) {
			_, _ = t.post(ctx, message{Content: p.Content, Allowed: tells(nil)}) // if it fails, a reply will fail as well, and report it
		}
		if !pause(ctx, between) {
			return
		}
	}
}

// lines takes the waiting lines.
func (t *Text) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.board
	if b.dropped > 0 {
		b.lines = append([]string{small(fmt.Sprintf("(%d lines are left out)", b.dropped))}, b.lines...)
	}
	text := strings.Join(b.lines, "\n")
	b.lines, b.dropped = nil, 0
	return text
}

// pause waits for d, and returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
