package unasked

import (
	"time"

	"earshot"
	"earshot/executive/attention"
)

// A greeting is what is known about somebody who has come into view and may be greeted.
type greeting struct {
	event   earshot.Event
	absence time.Duration // for how long nobody had been noticed before
	gone    bool          // nobody is in view any more
	met     bool          // the agent has said something since
	waits   bool          // that it waits is on record
}

// noteArrival takes in a recorded report that a camera has just noticed somebody come or leave.
// Somebody who comes while others are being greeted is included in that greeting.
func (t *Tracker) noteArrival(e earshot.Event) {
	s, is := e.Body.(earshot.Sight)
	if !is || s.What != earshot.PeopleChanged {
		return
	}
	if a := t.arrived; a != nil && s.People == 0 && a.event.From == e.From {
		a.gone = true
	}
	if s.People <= s.Were || t.arrived != nil && !t.arrived.gone {
		return
	}
	t.arrived = &greeting{event: e, absence: t.Absence(e.At)}
}

// Spoken notes that the agent said something that was heard. A newcomer has then been spoken to.
func (t *Tracker) Spoken() {
	if t.arrived != nil {
		t.arrived.met = true
	}
}

// nextGreeting returns the decision about greeting somebody. That a greeting waits is recorded
// once.
func (t *Tracker) nextGreeting(m Moment) (Decision, bool) {
	a := t.arrived
	if a == nil || !m.Answers {
		t.arrived = nil
		return Decision{}, false
	}
	set, s := m.Settings.Sight, a.event.Body.(earshot.Sight)
	c := &Candidate{Kind: Greeting, Event: a.event, Whom: a.event.Author, Aloud: true, Absence: a.absence, greeting: a}
	facts := t.facts(m, a.event.Visibility, "")
	facts.Arrival = &attention.Arrival{
		At: a.event.At, Greet: set.Greet, After: set.GreetAfterAbsence.Duration(),
		Absence: a.absence, Were: s.Were, Sure: s.Sure, Gone: a.gone, Met: a.met,
	}
	d := decide(m, c, facts, earshot.Silent)
	if d.Verdict == earshot.Wait && a.waits {
		t.schedule(d.again)
		return Decision{}, false
	}
	return d, true
}
