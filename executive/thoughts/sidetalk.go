package thoughts

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/midturn"
	"earshot/executive/think"
)

// SideTalk determines what a text means that is said now, in e, to the main agent while nobody talks
// and it has some thoughts. It looks at a thought that the agent was asked for in the same
// conversation; if there are several, at one that the author of e asked for. A text that does not
// concern the thought yields the zero SideTalk, as for an agent that is not working.
func (t *Thinker) SideTalk(e earshot.Event, text earshot.Text, now time.Time) midturn.SideTalk {
	var about *think.View
	all := t.View()
	for _, v := range all {
		mine := about == nil || t.People.Current(v.By) == t.People.Current(e.Author) || t.People.Current(about.By) != t.People.Current(e.Author)
		if v.Cause.Asked() && mine && conversation.SameCircle(v.Visibility, e.Visibility) {
			about = &v
		}
	}
	if about == nil {
		return midturn.SideTalk{}
	}
	a := midturn.SideTalk{Works: true, Thought: about.ID, Work: work(*about, all, now), Kind: midturn.Classify(text, t.Agent().Name, about.Question.Text)}
	if a.Kind == midturn.Side || a.Kind == midturn.Task {
		return midturn.SideTalk{}
	}
	return a
}

// work returns the progress of a thought at now, among all thoughts of an agent.
func work(v think.View, all []think.View, now time.Time) midturn.Work {
	w := midturn.Work{
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
