// Package unasked chooses what the main agent of a room says although nobody has just asked it: the
// notice that a new voice is written down, a reminder, a greeting, a finding of its thoughts, or the
// answer to a question that was put to the whole room. It also says when something new is worth a
// thought that nobody asked for.
//
// A [Tracker] takes in what happens. [Tracker.Next] returns the next decision about something that
// the agent could say, [candidates] of one kind after the other. The room puts the decision on
// record, and only then does it take effect, by [Tracker.Apply]; so a full disk changes nothing.
// [Tracker.Ended] says what became of it. How it is decided is in package attention.
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
	"earshot/executive/revision"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// The reasons for a decision that package attention does not give.
const (
	Due      = "a reminder is due"
	NewVoice = "somebody new must know that what is said is written down"
	OnHold   = "the room is paused"
)

// RetryDelay is when something that nobody heard is tried again.
const RetryDelay = time.Minute

// A Kind is why the agent speaks unasked.
type Kind int

const (
	VoiceNotice Kind = iota + 1 // somebody new is being heard
	Reminder
	Greeting // of somebody who has come into view
	Finding  // of a thought
)

// A Candidate is something that the agent may say. It does not change.
type Candidate struct {
	Kind  Kind
	Event earshot.Event // what it is about; whoever may see that may hear it

	Agent   earshot.ParticipantID // who says it, if that agent has a seat and may see the event; otherwise the main one
	Whom    earshot.ParticipantID // for whom it is; may be empty
	Answers earshot.EventID       // what it answers; may be empty
	Asked   bool                  // somebody waits for it
	Aloud   bool                  // it is said aloud too
	Words   string                // in which it is said; if empty, a model says it in its own

	Reminder remind.Reminder // of a reminder
	Absence  time.Duration   // of a greeting: for how long nobody had been noticed

	finding  *finding
	greeting *greeting
}

// Optional reports whether nobody misses it: somebody who cuts it off does not want to hear such
// things now.
func (c *Candidate) Optional() bool { return c != nil && (c.Kind == Finding || c.Kind == Greeting) }

// Unbidden reports whether nobody asked for it.
func (c *Candidate) Unbidden() bool {
	return c != nil && (c.Kind == Greeting || c.Kind == Finding && !c.Asked)
}

// A Decision says whether the agent says something, and why.
type Decision struct {
	Candidate *Candidate
	Verdict   earshot.Verdict
	Reasons   []string

	again time.Time // when it may change
}

// A Moment is what a decision depends on besides what happened in the room before.
type Moment struct {
	Now      time.Time
	Settings executive.Config
	Answers  bool // the room answers anybody
	Listens  bool // the room answers, whatever the settings say: notices count
	Hushed   bool // the agent was asked to be quiet
	Style    interrupt.Style
	Name     string // of the main agent
	Lasts    bool   // what is written here stays readable for people who are absent

	// Reaches reports whether anybody would hear or read a candidate now. IsHere reports whether
	// somebody is present.
	Reaches func(*Candidate) bool
	IsHere  func(earshot.ParticipantID) bool
}

// reaches reports whether somebody hears or can read what is said here now.
func (m Moment) reaches(who earshot.ParticipantID) bool { return m.Lasts || m.IsHere(who) }

// A Host is the room as a [Tracker] knows it. All fields must be set.
type Host struct {
	Room      earshot.RoomID
	People    *participants.Registry
	Scene     *scene.Scene
	Activity  *activity.Tracker
	Reminders *remind.Schedule

	Agent    func() earshot.ParticipantID                      // the main one
	Audience func(earshot.Visibility) earshot.Audience         // of what this agent says to those who may see something
	Author   func(event earshot.EventID) earshot.ParticipantID // of what somebody said recently; empty if that is forgotten
	Absence  func(until time.Time) time.Duration               // for how long nobody had been noticed
}

// A Tracker follows what the main agent of a room could say unasked, and what was said around it.
// Use [New]. It is not safe for concurrent use, except its Reminders.
type Tracker struct {
	Host

	novelty attention.NoveltyTracker
	latest  earshot.EventID   // the newest event that may be new to the agent
	routine []earshot.EventID // events in which nothing is new
	lines   []attention.Line
	spoke   marks // unasked, within the last hour
	toldNo  marks
	snoozed marks // until when it is to be silent
	open    *Question
	found   []*finding
	arrived *greeting // who may be greeted; nil if nobody

	answered marks     // events to which an answer was said
	again    time.Time // when one of these is checked again; zero if only an event triggers that

	strangers []earshot.Event // events in which new voices were heard, not yet announced
	notices   *rate.Limiter
}

// New returns a tracker that has seen nothing yet.
func New(h Host) *Tracker {
	return &Tracker{Host: h, notices: rate.NewLimiter(rate.Every(noticeInterval), noticeBurst)}
}

// candidates are what Next looks through, in order. Each returns the decisions that are due, one at
// a time: the next call returns the next one, once this one has been applied.
var candidates = []func(*Tracker, Moment) (Decision, bool){
	(*Tracker).nextReminder,
	(*Tracker).nextGreeting,
	(*Tracker).nextFinding,
}

// Next returns the next decision to put on record: one that the agent speaks, or one that differs
// from what is on record about the same thing.
func (t *Tracker) Next(m Moment) (Decision, bool) {
	for _, next := range candidates {
		if d, ok := next(t, m); ok {
			return d, true
		}
	}
	return Decision{}, false
}

// Apply says that a decision is on record.
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

// Ended says that the turn of a candidate has ended, and whether anything of it was heard. What
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

// Recheck returns when something that waits is checked again; the zero time if that only follows
// from events.
func (t *Tracker) Recheck() time.Time { return t.again }

// Rechecked says that the time of Recheck has come, if it has.
func (t *Tracker) Rechecked(now time.Time) {
	if !t.again.After(now) {
		t.again = time.Time{}
	}
}

// schedule schedules a check of what waits at a time, if that is known.
func (t *Tracker) schedule(at time.Time) {
	if !at.IsZero() && (t.again.IsZero() || at.Before(t.again)) {
		t.again = at
	}
}

// Observe takes in an event on record, including those before the program began. What it changes in
// the scene must not have happened yet.
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

// ObserveLive takes in an event on record that has just happened.
func (t *Tracker) ObserveLive(e earshot.Event) {
	t.noteNovelty(e)
	t.noteArrival(e)
}

// Reword gives a message its revised text.
func (t *Tracker) Reword(by earshot.Event, r earshot.Revision) {
	if q := t.open; q != nil {
		q.Event, _ = revision.Reword(q.Event, by)
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
