// Package unasked chooses what the main agent of a room says although nobody has just asked it: the
// notice that a new voice is being recorded, a reminder, a greeting, a finding of its thoughts, or
// the answer to a question that was put to the whole room. It also decides when something new is
// worth a thought that nobody asked for.
//
// A [Tracker] takes in what happens. [Tracker.Next] returns the next decision about something that
// the agent could say, going through the kinds in [candidates] one after the other. The room
// records the decision, and only then does it take effect, by [Tracker.Apply]; so a full disk
// changes nothing. [Tracker.Ended] takes in the outcome. Package attention has the rules for the
// decisions.
//
// To add a kind of unasked speech, add a function to candidates.
package unasked

import (
	"slices"
	"time"

	"golang.org/x/time/rate"

	"earshot"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/attention"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// RetryDelay is when something that nobody heard is tried again.
const RetryDelay = time.Minute

// A Kind says why the agent speaks unasked.
type Kind int

const (
	VoiceNotice Kind = iota + 1 // somebody new is being heard
	Reminder
	Greeting // somebody has come into view
	Finding  // a thought has found something
)

// A Candidate is something that the agent may say. It does not change.
type Candidate struct {
	Kind  Kind
	Event earshot.Event // what it is about; whoever may see that event may hear it

	Agent   earshot.ParticipantID // who says it, if that agent has a seat and may see the event; otherwise the main one
	Whom    earshot.ParticipantID // for whom it is; may be empty
	Answers earshot.EventID       // what it answers; may be empty
	Asked   bool                  // somebody waits for it
	Aloud   bool                  // it is said aloud too
	Words   string                // its words; if empty, a model words it

	Reminder remind.Reminder // of a reminder
	Absence  time.Duration   // of a greeting: for how long nobody had been noticed

	finding  *finding
	greeting *greeting
}

// Optional reports whether nobody misses c if it is not said. Somebody who cuts it off does not
// want to hear such things now.
func (c *Candidate) Optional() bool { return c != nil && (c.Kind == Finding || c.Kind == Greeting) }

// Unbidden reports whether nobody asked for c.
func (c *Candidate) Unbidden() bool {
	return c != nil && (c.Kind == Greeting || c.Kind == Finding && !c.Asked)
}

// A Decision says whether the agent says something, and why.
type Decision struct {
	Candidate *Candidate
	Verdict   earshot.Verdict
	Reasons   []string

	again time.Time // when the decision may change
}

// A Moment is what a decision depends on besides past events in the room.
type Moment struct {
	Now      time.Time
	Settings executive.Config
	Answers  bool // the room answers people
	Listens  bool // the room answers, regardless of the settings; this matters for notices
	Hushed   bool // the agent was asked to be quiet
	Style    interrupt.Style
	Name     string // of the main agent
	Lasts    bool   // what is written here remains readable for people who are absent

	// Reaches reports whether anybody would hear or read a candidate now. IsHere reports whether
	// somebody is present.
	Reaches func(*Candidate) bool
	IsHere  func(earshot.ParticipantID) bool
}

// reaches reports whether somebody hears what is said here now, or can read it.
func (m Moment) reaches(who earshot.ParticipantID) bool { return m.Lasts || m.IsHere(who) }

// A Host is what a [Tracker] needs of its room. All fields must be set.
type Host struct {
	Room      earshot.RoomID
	People    *participants.Registry
	Scene     *scene.Scene
	Activity  *activity.Tracker
	Reminders *remind.Schedule

	Agent    func() earshot.ParticipantID                      // the main agent
	Audience func(earshot.Visibility) earshot.Audience         // who hears what it says to those who may see something
	Author   func(event earshot.EventID) earshot.ParticipantID // the author of a recent event; empty if that is forgotten
	Absence  func(until time.Time) time.Duration               // for how long nobody had been noticed
	Dropped  func(findings int)                                // some were forgotten before they were said; it returns at once
}

// A Tracker tracks what the main agent of a room could say unasked, and what was said around it.
// Use [New]. It is not safe for concurrent use, except for its Reminders.
type Tracker struct {
	Host

	novelty attention.NoveltyTracker
	latest  earshot.EventID   // the newest event that may be new to the agent
	routine []earshot.EventID // events in which nothing is new
	lines   []attention.Line
	spoke   marks // when the agent spoke unasked within the last hour
	toldNo  marks
	snoozed marks // until when the agent must be silent
	open    *Question
	found   []*finding
	arrived *greeting // who may be greeted; nil if nobody is to be

	answered marks     // events whose answer was said
	again    time.Time // when any of these is checked again; zero if only an event triggers that

	strangers []earshot.Event // events in which new voices were heard, not yet announced
	notices   *rate.Limiter
}

// New returns a tracker that has taken in nothing yet.
func New(h Host) *Tracker {
	return &Tracker{Host: h, notices: rate.NewLimiter(rate.Every(noticeInterval), noticeBurst)}
}

// candidates are the kinds that Next goes through, in order. Each function returns the decisions
// that are due, one at a time: once a decision was applied, the next call returns the next one.
var candidates = []func(*Tracker, Moment) (Decision, bool){
	(*Tracker).nextReminder,
	(*Tracker).nextGreeting,
	(*Tracker).nextFinding,
}

// Next returns the next decision to record. In it the agent speaks, or the decision differs from
// the one on record about the same thing.
func (t *Tracker) Next(m Moment) (Decision, bool) {
	for _, next := range candidates {
		if d, ok := next(t, m); ok {
			return d, true
		}
	}
	return Decision{}, false
}

// Apply takes in that a decision is on record.
func (t *Tracker) Apply(d Decision, now time.Time) {
	c := d.Candidate
	if d.Verdict == earshot.Wait {
		t.schedule(d.again)
	}
	if d.Verdict == earshot.Speak && c.Unbidden() {
		t.Speaks(now, c.Event.Visibility)
	}
	if c.greeting != nil {
		c.greeting.waits = d.Verdict == earshot.Wait
		if d.Verdict != earshot.Wait {
			t.arrived = nil
		}
	}
}

// Ended takes in that the turn of a candidate has ended, and whether any of it was heard. What
// nobody heard is tried again later.
func (t *Tracker) Ended(c *Candidate, heard bool, now time.Time) {
	switch {
	case c.Kind == Reminder && !heard:
		t.Reminders.Postpone(c.Event.ID, now.Add(RetryDelay))
	case c.Kind == Finding && heard:
		t.heard(c.finding)
	case c.Kind == Finding:
		c.finding.tried = now.Add(RetryDelay)
	}
}

// Recheck returns when something that waits is checked again; the zero time if only an event
// triggers that.
func (t *Tracker) Recheck() time.Time { return t.again }

// Rechecked takes in the current time. Once the time of Recheck has come, Recheck no longer returns
// it.
func (t *Tracker) Rechecked(now time.Time) {
	if !t.again.After(now) {
		t.again = time.Time{}
	}
}

// schedule schedules a check of everything that waits, unless at is the zero time.
func (t *Tracker) schedule(at time.Time) {
	if !at.IsZero() && (t.again.IsZero() || at.Before(t.again)) {
		t.again = at
	}
}

// Observe takes in a recorded event, which may be from before the program began. It must be called
// before the event changes the scene.
func (t *Tracker) Observe(e earshot.Event, now time.Time) {
	switch body := e.Body.(type) {
	case earshot.Snooze:
		t.snoozed.note(mark{at: body.Until, visibility: e.Visibility})
	case earshot.Finding:
		t.addFinding(e, body, now)
	case earshot.Decision:
		t.decided(body)
	case earshot.Reply:
		if body.Delivered() != "" {
			t.heard(t.findingOf(body.Turn))
		}
	case earshot.Edit:
		t.markOutdated(earshot.EventID(body.Item), t.madeBy(body, e.Visibility))
	case earshot.Tombstone:
		t.dropFindings(func(f *finding) bool { return f.event.ID == e.ID })
		t.markOutdated(e.ID)
	}
}

// ObserveLive takes in a recorded event that has just happened.
func (t *Tracker) ObserveLive(e earshot.Event) {
	t.noteNovelty(e)
	t.noteArrival(e)
}

// Reword gives a message its revised text, which reword does with an event.
func (t *Tracker) Reword(r earshot.Revision, reword func(earshot.Event) earshot.Event) {
	if q := t.open; q != nil {
		q.Event = reword(q.Event)
	}
	for i, l := range t.lines {
		if l.Event == r.Of {
			t.lines[i].Text = r.Text
		}
	}
}

// Forget removes erased events, and what rests on them.
func (t *Tracker) Forget(is func(earshot.EventID) bool, gone []earshot.EventID) {
	if t.open != nil && is(t.open.Event.ID) {
		t.open = nil
	}
	for i, l := range t.lines {
		if is(l.Event) {
			t.lines[i].Text = ""
		}
	}
	t.dropFindings(func(f *finding) bool { return is(f.event.ID) })
	t.markOutdated(gone...)
	if t.arrived != nil && is(t.arrived.event.ID) {
		t.arrived = nil
	}
	t.strangers = slices.DeleteFunc(t.strangers, func(e earshot.Event) bool { return is(e.ID) })
}

// public reports whether everybody may know e.
func public(e earshot.Event) bool {
	return e.Visibility.Scope == earshot.Public && len(e.Visibility.Agents) == 0
}
