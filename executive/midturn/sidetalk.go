package midturn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/interrupt"
	"earshot/participants/agents"
)

// A SideTalk is the meaning of words said to an agent while it works. The zero value stands for
// words said while the agent did not work.
type SideTalk struct {
	Kind   Kind
	Works  bool // the agent was working
	Begins bool // the words are still being said

	Progress *Progress     // of the turn in which it works; nil if the work is a thought
	Agent    agents.Record // whose turn that is

	Thought earshot.EventID // that occupies it, if somebody asked for that; empty if the work is a turn
	Work    Work            // of the thought, when the words were said
}

// GoesOn reports whether the turn continues.
func (a SideTalk) GoesOn() bool {
	return a.Progress != nil && (a.Kind == Side || a.Kind == Status || a.Kind == Task)
}

// For returns what the words mean for the work of one agent. main says that this is the main agent,
// which does the thinking.
func (a SideTalk) For(agent earshot.ParticipantID, main bool) SideTalk {
	if a.Thought != "" && main || a.Progress != nil && a.Agent.ID == agent {
		return a
	}
	return SideTalk{}
}

// Signal returns the signal s for the floor, adapted to the work.
func (a SideTalk) Signal(s *interrupt.Signal) *interrupt.Signal {
	switch {
	case s == nil || !a.Works || a.Thought != "" || s.Kind == interrupt.Command:
	case a.Begins:
		if s.Kind == interrupt.Addressed || s.Kind == interrupt.Words {
			s.Kind = interrupt.Voice
		}
	case a.Kind == Stop:
		s.Kind = interrupt.Command
	case a.GoesOn():
		s.Kind = interrupt.Over
	}
	return s
}

// Decide returns the decision and its reasons, adapted to the work.
func (a SideTalk) Decide(v earshot.Verdict, reasons []string) (earshot.Verdict, []string) {
	switch stops := slices.Contains(reasons, reason.Commanded); {
	case a.Thought != "" && a.Kind == Stop && (stops || v == earshot.Speak):
		return earshot.Silent, []string{reason.Commanded, reason.Thinks}
	case !a.Works || v != earshot.Speak:
		return v, reasons
	case a.Thought != "":
		return v, append(reasons, map[Kind]string{Status: reason.HowFar, Steer: reason.Considers, Instead: reason.Replaces}[a.Kind])
	}
	switch a.Kind {
	case Stop:
		return earshot.Silent, []string{reason.Commanded}
	case Status:
		return earshot.Note, append(reasons, reason.HowFar)
	}
	why := map[Kind]string{Side: reason.Meanwhile, Task: reason.Afterwards, Instead: reason.Replaces, Steer: reason.Steers}
	return v, append(reasons, why[a.Kind])
}

// Reply returns what the agent says at once about its thought; empty for nothing.
func (a SideTalk) Reply() string {
	switch {
	case a.Thought == "":
	case a.Kind == Status:
		return a.Work.Report("")
	case a.Kind == Steer:
		return "I take that into account, and come back to it."
	}
	return ""
}

// Redo returns what tells the model that the last message, written at a time, says how to continue
// the work that was broken off for it. It is empty if the message does not say that.
func (a SideTalk) Redo(at time.Time) string {
	if a.Kind != Steer || a.Progress == nil {
		return ""
	}
	work := a.Progress.Work(at)
	used, done := work.Tools, ""
	if work.Using != "" {
		used = append(used, work.Using)
	}
	if len(used) > 0 {
		done = fmt.Sprintf(" You had used %s for it, and what was done by that is done.", strings.Join(used, ", "))
	}
	return "\nWhat was said last is no question of its own: it says how you are to go on with what you were asked before, and broke off." +
		done + " Do all of it now, as they want it."
}
