// Package remind is the agenda of a room: what is to be said later, and to whom.
//
// It is pure, and can be rebuilt from the journal: [earshot.Reminder] events record what was set,
// what was said and what was given up. Each reminder belongs to the person for whom it is, and has
// a number among their reminders; the journal yields the same numbers again. A room that resumes
// reads the open reminders, however old they are, from the table that [Projection] keeps.
//
// A reminder is said when it is due and its person is there. That it was said is recorded in one
// step with the reply that contained it. If the program dies before that, the reminder is said
// again, because being reminded twice is better than never.
package remind

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
)

const (
	mostEach = 50                   // reminders of one person, in one room
	mostAll  = 1000                 // reminders in one room
	farthest = 366 * 24 * time.Hour // how far ahead a reminder can be set
	mostText = 300                  // bytes: as much as people say in one breath
)

// A Reminder is a reminder that has not been said yet.
type Reminder struct {
	Event earshot.Event // the event that set it
	For   earshot.ParticipantID
	N     int // its number among those of the same person, from 1
	Due   time.Time
	Text  earshot.Text
}

// An Agenda is all reminders of a room. The zero value is empty.
type Agenda struct {
	all []Reminder // in the order in which they are due; of equal ones the older first
}

// Apply takes in an event of the journal; events come in their order.
func (a *Agenda) Apply(e earshot.Event) {
	switch body := e.Body.(type) {
	case earshot.Reminder:
		if body.Act == earshot.Created {
			a.add(e, body)
			return
		}
		a.remove(body.Of)
	case earshot.Tombstone:
		a.remove(e.ID)
	}
}

func (a *Agenda) add(e earshot.Event, r earshot.Reminder) {
	if len(e.To) == 0 || slices.ContainsFunc(a.all, func(had Reminder) bool { return had.Event.ID == e.ID }) {
		return
	}
	n := 1
	for slices.ContainsFunc(a.Of(e.To[0]), func(had Reminder) bool { return had.N == n }) {
		n++
	}
	a.insert(e, r, n)
}

func (a *Agenda) insert(e earshot.Event, r earshot.Reminder, n int) {
	at, _ := slices.BinarySearchFunc(a.all, r.Due, func(had Reminder, due time.Time) int {
		if had.Due.After(due) {
			return 1
		}
		return -1
	})
	a.all = slices.Insert(a.all, at, Reminder{Event: e, For: e.To[0], N: n, Due: r.Due, Text: r.Text})
}

func (a *Agenda) remove(id earshot.EventID) {
	a.all = slices.DeleteFunc(a.all, func(r Reminder) bool { return r.Event.ID == id })
}

// Of returns the reminders of one person in the order in which they are due.
func (a *Agenda) Of(who earshot.ParticipantID) (theirs []Reminder) {
	for _, r := range a.all {
		if r.For == who {
			theirs = append(theirs, r)
		}
	}
	return theirs
}

// Next returns the first time at which a reminder can be said; when returns that time for each
// reminder, or the zero Time if it cannot be said. Next returns the zero Time if there is none.
func (a *Agenda) Next(when func(Reminder) time.Time) (next time.Time) {
	for _, r := range a.all {
		if at := when(r); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// Due returns the reminders that are due at now and meet a condition, in the order in which they
// are due.
func (a *Agenda) Due(now time.Time, meets func(Reminder) bool) (due []Reminder) {
	for _, r := range a.all {
		if r.Due.After(now) {
			break
		}
		if meets(r) {
			due = append(due, r)
		}
	}
	return due
}

// Check says why a reminder for somebody cannot be set at now, or nothing.
func (a *Agenda) Check(now time.Time, who earshot.ParticipantID, due time.Time, text earshot.Text) error {
	switch {
	case text == "":
		return errors.New("the reminder is empty; say what to remind you of")
	case len(text) > mostText:
		return fmt.Errorf("the reminder has %d bytes, which is too long; at most %d", len(text), mostText)
	case !due.After(now):
		return fmt.Errorf("that time has passed; it is %s now", now.Local().Format("2006-01-02 15:04"))
	case due.Sub(now) > farthest:
		return errors.New("that is too far ahead; choose a time within a year")
	case len(a.Of(who)) >= mostEach:
		return fmt.Errorf("one person can have at most %d reminders; cancel one first", mostEach)
	case len(a.all) >= mostAll:
		return fmt.Errorf("a room can have at most %d reminders; cancel one first", mostAll)
	}
	return nil
}
