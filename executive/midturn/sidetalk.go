package midturn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/decision"
	"earshot/executive/think"
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

	Thought *think.View // the thought that occupies it, if somebody asked for that; nil if the work is a turn
}

// AboutThought determines what a text means that is said while nobody talks and the agent has some
// thoughts. It looks at a thought that the agent was asked for in the same conversation; if there
// are several, at one that the author of e asked for. A text that does not concern the thought
// yields the zero SideTalk, as for an agent that is not working. current returns who somebody is
// now.
func AboutThought(all []think.View, agent agents.Record, e earshot.Event, text earshot.Text, current func(earshot.ParticipantID) earshot.ParticipantID) SideTalk {
	var about *think.View
	for _, v := range all {
		mine := about == nil || current(v.By) == current(e.Author) || current(about.By) != current(e.Author)
		if v.Cause.Asked() && mine && conversation.SameCircle(v.Visibility, e.Visibility) {
			about = &v
		}
	}
	if about == nil {
		return SideTalk{}
	}
	a := SideTalk{Works: true, Thought: about, Kind: Classify(text, agent.Name, about.Question.Text)}
	if a.Kind == Side || a.Kind == Task {
		return SideTalk{}
	}
	return a
}

// GoesOn reports whether the turn continues.
func (a SideTalk) GoesOn() bool {
	return a.Progress != nil && (a.Kind == Side || a.Kind == Status || a.Kind == Task)
}

// For returns what the words mean for the work of one agent. main says that this is the main agent,
// which does the thinking.
func (a SideTalk) For(agent earshot.ParticipantID, main bool) SideTalk {
	if a.Thought != nil && main || a.Progress != nil && a.Agent.ID == agent {
		return a
	}
	return SideTalk{}
}

// Signal returns the signal s for the floor, adapted to the work.
func (a SideTalk) Signal(s *interrupt.Signal) *interrupt.Signal {
	switch {
	case s == nil || !a.Works || a.Thought != nil || s.Kind == interrupt.Command:
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
	switch stops := slices.Contains(reasons, decision.Commanded); {
	case a.Thought != nil && a.Kind == Stop && (stops || v == earshot.Speak):
		return earshot.Silent, []string{decision.Commanded, decision.Thinks}
	case !a.Works || v != earshot.Speak:
		return v, reasons
	case a.Thought != nil:
		return v, append(reasons, map[Kind]string{Status: decision.HowFar, Steer: decision.Considers, Instead: decision.Replaces}[a.Kind])
	}
	switch a.Kind {
	case Stop:
		return earshot.Silent, []string{decision.Commanded}
	case Status:
		return earshot.Note, append(reasons, decision.HowFar)
	}
	why := map[Kind]string{Side: decision.Meanwhile, Task: decision.Afterwards, Instead: decision.Replaces, Steer: decision.Steers}
	return v, append(reasons, why[a.Kind])
}

// Reply returns what the agent says at once about its thought; empty for nothing. all are its
// thoughts, in the order in which they come.
func (a SideTalk) Reply(all []think.View, now time.Time) string {
	switch {
	case a.Thought == nil:
	case a.Kind == Status:
		return ThoughtWork(*a.Thought, all, now).Report("")
	case a.Kind == Steer:
		return "I take that into account, and come back to it."
	}
	return ""
}

// ThoughtWork returns the progress of a thought at now, among all thoughts of an agent.
func ThoughtWork(v think.View, all []think.View, now time.Time) Work {
	w := Work{
		Thought: true, On: v.Question.Text, For: now.Sub(v.At), GaveWay: len(v.Spans), Aside: v.Phase == think.Parked,
	}
	from := 0
	for _, s := range append(slices.Clone(v.Spans), think.Span{To: len(v.Text)}) { // the text may have no space between spans
		w.Words += len(strings.Fields(string(v.Text[from:s.To])))
		from = s.To
	}
	for _, other := range all {
		if other.ID == v.ID {
			break
		}
		if v.Phase == think.Waiting && other.Cause.Asked() {
			w.Behind++
		}
	}
	return w
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
