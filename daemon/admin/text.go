package admin

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/participants/agents"
)

// RoomsText returns the rooms of an agent.
func RoomsText(p api.AgentInfo) string {
	switch {
	case len(p.Rooms) > 0:
	case p.Kind == earshot.PathAgent, p.Kind == earshot.PathConnector && p.Configured:
		return agents.Everywhere
	default:
		return "-" // it is wherever others call it
	}
	var names []string
	for _, r := range p.Rooms {
		names = append(names, string(r))
	}
	return strings.Join(names, ",")
}

// ModelText returns the model of an agent that has its own.
func ModelText(p api.AgentInfo) string {
	switch {
	case p.Engine == "" && p.Model == "":
		return "the usual"
	case p.Engine == "":
		return p.Model
	case p.Model == "":
		return "that of " + p.Engine
	}
	return p.Model + " of " + p.Engine
}

// MainText says that an agent answers what is addressed to nobody in particular.
func MainText(p api.AgentInfo) string {
	if p.Main {
		return "main"
	}
	return ""
}

// PrintAgent prints all about an agent.
func PrintAgent(w io.Writer, p api.AgentInfo) {
	fmt.Fprintln(w, terminal.Safe(p.Name))
	line := func(what, is string) {
		if is != "" {
			fmt.Fprintf(w, "  %-13s %s\n", what, strings.ReplaceAll(terminal.Safe(is), "\n", "\n"+strings.Repeat(" ", 16)))
		}
	}
	line("username", p.Username)
	line("description", p.Description)
	line("path", string(p.Path))
	line("kind", string(p.Kind))
	line("state", p.State)
	line("rooms", RoomsText(p))
	line("model", ModelText(p))
	line("today", TodayText(p))
	line("workspace", p.Workspace)
	line("main", yesNo(p.Main))
	line("auto_reply", yesNo(p.AutoReply))
	if p.User != participants.Owner {
		line("user", string(p.User))
	}
	if p.Configured {
		line("changed", "in the configuration")
	} else {
		line("changed", "by: earshot agents change")
	}
	line("prompt", cmp.Or(strings.TrimSpace(string(p.Prompt)), "the one built into earshot"))
}

// TodayText returns what an agent has cost today; empty if nothing.
func TodayText(p api.AgentInfo) string {
	if p.Today == nil {
		return ""
	}
	return english.Count(int(p.Today.Tokens()), "token")
}

func yesNo(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }

// PersonText returns the owner of a voice.
func PersonText(s api.VoiceInfo) string {
	return cmp.Or(s.Name, "unknown")
}

// LastText returns when a voice was heard in this run.
func LastText(s api.VoiceInfo) string {
	if s.Last.IsZero() {
		return "-"
	}
	return english.When(s.Last)
}

// KeptText returns since when a voice is kept, and who said so.
func KeptText(s api.VoiceInfo) string {
	if !s.Kept {
		return "no"
	}
	return "since " + s.Said.At.Local().Format(time.DateOnly) + ", by " + s.SaidBy
}

// SecondsText formats a length of time.
func SecondsText(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// An Enrolment is the progress towards hearing enough of one voice.
type Enrolment struct {
	Need   time.Duration
	before map[earshot.Handle]time.Duration // how long each voice had spoken before
	told   string
}

// Step returns the progress text for the current voices, if it changed, and the voice of which
// enough was heard since the first step.
func (l *Enrolment) Step(list []api.VoiceInfo) (line string, enough earshot.Handle) {
	if l.before == nil {
		l.before = make(map[earshot.Handle]time.Duration)
		for _, s := range list {
			l.before[s.Handle] = s.Spoken
		}
	}
	spoke := func(s api.VoiceInfo) time.Duration { return s.Spoken - l.before[s.Handle] }
	list = slices.DeleteFunc(slices.Clone(list), func(s api.VoiceInfo) bool { return spoke(s) <= 0 })
	if len(list) == 0 {
		return "", earshot.Handle{}
	}
	most := slices.MaxFunc(list, func(a, b api.VoiceInfo) int { return int(spoke(a) - spoke(b)) })
	line = fmt.Sprintf("%s: %.0f of %s", most.Called, min(spoke(most), l.Need).Seconds(), SecondsText(l.Need))
	if len(list) > 1 {
		line += fmt.Sprintf(" (%s besides)", english.Count(len(list)-1, "voice"))
	}
	if spoke(most) >= l.Need && most.Heard >= l.Need {
		enough = most.Handle
	}
	if line == l.told {
		return "", enough
	}
	l.told = line
	return line, enough
}
