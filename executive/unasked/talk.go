package unasked

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/participants"
)

const (
	// maxLines is how many lines of people's talk are remembered: a few minutes of a lively
	// conversation.
	maxLines = 32

	// refusalWindow is how long after the agent spoke unasked a "not now" is taken as meant for it,
	// whomever the words address.
	refusalWindow = 30 * time.Second
)

// A Question is a question that was put to the whole room.
type Question struct {
	Event  earshot.Event
	Asker  participants.Participant
	Rank   int  // how urgent it is
	Agents bool // an agent asked it
}

// Hear takes in what somebody wrote or said, if everybody may know it.
func (t *Tracker) Hear(e earshot.Event, who participants.Participant, text earshot.Text) {
	if !public(e) {
		return
	}
	unknown := e.Author == "" || e.Author == participants.Generic
	l := attention.Line{
		Event: e.ID, At: e.End(), Who: string(t.People.Current(e.Author)), Here: true, Text: text,
		Unknown: (unknown || who.Nameless()) && e.Body.Kind() == earshot.KindUtterance,
	}
	if unknown {
		l.Who = e.From.Provider + ":" + e.From.ID
	}
	t.lines = append(t.lines, l)
	t.lines = slices.Delete(t.lines, 0, max(0, len(t.lines)-maxLines))
}

// facts returns the facts for the decision whether to speak. The decision is about something of
// visibility v and, if whom is not empty, for that person.
func (t *Tracker) facts(m Moment, v earshot.Visibility, whom earshot.ParticipantID) attention.Facts {
	types, heard, others := t.Activity.Recent(m.Now, func(h earshot.Handle) bool { return t.People.Resolve(h).ID == whom })
	f := attention.Facts{
		Now: m.Now.Local(), Set: m.Settings.Attention, Style: m.Style, Typing: types, Hushed: m.Hushed,
		Spoke: t.spoke.times(v), ToldNo: t.toldNo.last(v), Snoozed: t.snoozed.last(v),
	}
	var names []string
	for _, p := range t.People.Here(t.Room) {
		names = append(names, p.Name)
		if whom == "" && v.Allows(earshot.Audience{Room: t.Room, Members: []earshot.ParticipantID{p.ID}}) || whom == p.ID {
			f.Here++
		}
	}
	f.Talk = attention.Read(t.lines, names, m.Name)
	f.Talk.Last, f.Others = activity.Later(f.Talk.Last, heard), others
	for _, l := range t.lines {
		if l.Who != string(whom) && !(l.Unknown && (whom == "" || whom == participants.Generic)) {
			f.Others = activity.Later(f.Others, l.At)
		}
	}
	return f
}

// Overhear decides about words that an agent may hear and that address nobody. A question to the
// whole room is left to the people in it for a while; see [Tracker.Open].
func (t *Tracker) Overhear(m Moment, q Question) (earshot.Verdict, []string) {
	if !public(q.Event) {
		return earshot.Silent, []string{attention.NotForMe}
	}
	facts := t.facts(m, q.Event.Visibility, "")
	if !facts.Talk.Asked.IsZero() && !facts.Talk.Asked.Equal(q.Event.End()) && !facts.Talk.Answered {
		return earshot.Silent, []string{attention.NotForMe} // an earlier question is still open, or has been closed
	}
	verdict, reasons := attention.Decide(facts)
	switch verdict {
	case earshot.Wait:
		t.open, t.again = &q, time.Time{}
	case earshot.Speak:
		t.Speaks(m.Now, q.Event.Visibility)
	}
	return verdict, reasons
}

// Open decides about the open question to the room, if there is one, once somebody has answered it
// or it is clear that nobody will. Until then, it returns nil. A decision takes effect at once. If
// the agent speaks, the caller reports that to [Tracker.Speaks].
func (t *Tracker) Open(m Moment) (*Question, earshot.Verdict, []string) {
	if t.open == nil {
		return nil, "", nil
	}
	q := t.open
	facts := t.facts(m, q.Event.Visibility, "")
	verdict, why := attention.Decide(facts)
	switch {
	case !m.Answers:
		verdict, why = earshot.Silent, []string{reason.OnHold}
	case !facts.Talk.Asked.Equal(q.Event.End()):
		verdict, why = earshot.Silent, []string{attention.Answered}
	case verdict == earshot.Wait:
		t.schedule(attention.Again(facts))
		return nil, "", nil
	}
	t.open = nil
	return q, verdict, why
}

// Discard gives up the question in an event that was not kept.
func (t *Tracker) Discard(event earshot.EventID) {
	if t.open != nil && t.open.Event.ID == event {
		t.open = nil
	}
}

// Refused takes in that somebody does not want to hear the agent. v is the visibility of their
// words.
func (t *Tracker) Refused(at time.Time, v earshot.Visibility) {
	t.toldNo.note(mark{at: at, visibility: v})
}

// Speaks notes that the agent says something unasked to those who may see something of visibility v.
func (t *Tracker) Speaks(at time.Time, v earshot.Visibility) {
	t.spoke = slices.DeleteFunc(t.spoke, func(was mark) bool { return at.Sub(was.at) >= time.Hour })
	t.spoke.note(mark{at: at, visibility: v})
}

// JustSpoke reports whether the agent spoke unasked just before e, to everybody who sees e.
func (t *Tracker) JustSpoke(e earshot.Event) bool {
	last := t.spoke.last(e.Visibility)
	return !last.IsZero() && e.At.Sub(last) < refusalWindow
}
