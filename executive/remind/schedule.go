package remind

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/internal/lockorder"
)

// A Schedule is an agenda that several goroutines use, and that knows which reminders were tried in
// vain. The zero value is empty. It is safe for concurrent use.
type Schedule struct {
	mu        lockorder.Mutex[lockorder.Leaf]
	agenda    Agenda
	postponed map[earshot.EventID]time.Time // until when each reminder waits that nobody heard
}

// NewSchedule returns the schedule of an agenda.
func NewSchedule(a Agenda) *Schedule { return &Schedule{agenda: a} }

// Apply takes in an event of the journal; see [Agenda.Apply].
func (s *Schedule) Apply(e earshot.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda.Apply(e)
	for id := range s.postponed {
		if !slices.ContainsFunc(s.agenda.all, func(r Reminder) bool { return r.Event.ID == id }) {
			delete(s.postponed, id)
		}
	}
}

// Drop removes the reminders that were made from any of some events, which are erased.
func (s *Schedule) Drop(gone []earshot.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agenda.all = slices.DeleteFunc(s.agenda.all, func(r Reminder) bool {
		return slices.ContainsFunc(r.Event.Sources, func(id earshot.EventID) bool { return slices.Contains(gone, id) })
	})
}

// Check says why a reminder cannot be set; see [Agenda.Check].
func (s *Schedule) Check(now time.Time, who earshot.ParticipantID, due time.Time, text earshot.Text) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agenda.Check(now, who, due, text)
}

// Of returns the reminders of one person that everybody in a may know, in the order in which they
// are due.
func (s *Schedule) Of(who earshot.ParticipantID, a earshot.Audience) []Reminder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.agenda.Of(who), func(r Reminder) bool { return !r.Event.Visibility.Allows(a) })
}

// SetBy returns the reminder of one person that an event has set; ok is false if it is no longer
// open.
func (s *Schedule) SetBy(who earshot.ParticipantID, event earshot.EventID) (r Reminder, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.agenda.Of(who)
	i := slices.IndexFunc(all, func(r Reminder) bool { return r.Event.ID == event })
	if i < 0 {
		return r, false
	}
	return all[i], true
}

// Next returns when the first reminder that reaches its person may be said; the zero Time if there
// is none.
func (s *Schedule) Next(reaches func(Reminder) bool) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agenda.Next(func(r Reminder) time.Time {
		tried := s.postponed[r.Event.ID]
		switch {
		case !reaches(r):
			return time.Time{}
		case tried.After(r.Due):
			return tried
		}
		return r.Due
	})
}

// Due returns the reminders that may be said at now, in the order in which they are due.
func (s *Schedule) Due(now time.Time, reaches func(Reminder) bool) []Reminder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agenda.Due(now, func(r Reminder) bool { return !s.postponed[r.Event.ID].After(now) && reaches(r) })
}

// Postpone makes a reminder that nobody heard wait until a time.
func (s *Schedule) Postpone(id earshot.EventID, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.postponed == nil {
		s.postponed = make(map[earshot.EventID]time.Time)
	}
	s.postponed[id] = until
}

// A Recorder sets and gives up reminders on record.
type Recorder struct {
	*Schedule
	Keep  func(context.Context, earshot.Event) error // on record, or why not
	Nudge func()                                     // wakes whoever looks at the clock
	Now   func() time.Time
}

// Set records a reminder for somebody; e is the event that records it, but for whom it is.
func (r Recorder) Set(ctx context.Context, who earshot.ParticipantID, e earshot.Event) (Reminder, error) {
	e.To = []earshot.ParticipantID{who}
	is := e.Body.(earshot.Reminder)
	if err := r.Check(r.Now(), who, is.Due, is.Text); err != nil {
		return Reminder{}, err
	}
	if err := r.Keep(ctx, e); err != nil {
		return Reminder{}, err
	}
	r.Nudge()
	if set, ok := r.SetBy(who, e.ID); ok {
		return set, nil
	}
	return Reminder{For: who, Due: is.Due, Text: is.Text}, nil // it was said already
}

// Cancel gives up a reminder of somebody, by its number among those that everybody in a may know.
// event makes the event that records it.
func (r Recorder) Cancel(ctx context.Context, who earshot.ParticipantID, n int, a earshot.Audience, event func(earshot.Body) earshot.Event) error {
	all := r.Of(who, a)
	i := slices.IndexFunc(all, func(has Reminder) bool { return has.N == n })
	if i < 0 {
		return fmt.Errorf("there is no reminder %d; list them to see their numbers", n)
	}
	e := event(earshot.Reminder{Act: earshot.Ended, Of: all[i].Event.ID, Due: all[i].Due, Text: all[i].Text})
	e.To, e.Visibility = []earshot.ParticipantID{who}, all[i].Event.Visibility
	if !slices.Contains(e.Sources, all[i].Event.ID) {
		e.Sources = append(e.Sources, all[i].Event.ID)
	}
	return r.Keep(ctx, e)
}
