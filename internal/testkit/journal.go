package testkit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"earshot"
)

// A Journal keeps events in memory, with the guarantees of the real one: an event with a known ID
// keeps its old sequence, and an event whose Append fails is not kept.
type Journal struct {
	mu     sync.Mutex
	takes  time.Duration
	fault  error
	refuse func(earshot.Event) error
	from   int64
	events []earshot.Event
}

// Append stores events, all or none.
func (j *Journal) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	j.mu.Lock()
	takes := j.takes
	j.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fault != nil {
		return nil, j.fault
	}
	for _, e := range events {
		if j.refuse == nil {
			break
		}
		if err := j.refuse(e); err != nil {
			return nil, err
		}
	}
	before := slices.Clone(j.events)
	var kept []earshot.Event
	for _, e := range events {
		e, err := j.keep(e)
		if err != nil {
			j.events = before
			return nil, err
		}
		kept = append(kept, e)
	}
	return kept, nil
}

func (j *Journal) keep(e earshot.Event) (earshot.Event, error) {
	if i := j.find(e.ID); i >= 0 {
		return j.events[i], nil
	}
	var err error
	switch b := e.Body.(type) {
	case earshot.Revision:
		e.Sources = append(slices.Clip(e.Sources), b.Of)
		err = j.revise(e, b)
	case earshot.Withdrawal:
		b, err = j.withdraw(b)
		e.Body = b
	}
	if err != nil {
		return e, err
	}
	e.Sequence = j.from + int64(len(j.events)) + 1
	if slices.ContainsFunc(e.Sources, j.gone) {
		erase(&e)
	}
	j.events = append(j.events, e)
	return e, nil
}

// find returns the index of an event, -1 if it is not there.
func (j *Journal) find(id earshot.EventID) int {
	return slices.IndexFunc(j.events, func(e earshot.Event) bool { return e.ID == id })
}

// gone reports whether an event was erased.
func (j *Journal) gone(id earshot.EventID) bool {
	i := j.find(id)
	return i >= 0 && j.events[i].Body.Kind() == earshot.KindErased
}

// erase leaves nothing of e but the fact that it existed.
func erase(e *earshot.Event) {
	*e = earshot.Event{ID: e.ID, Sequence: e.Sequence, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
}

var errNothing = errors.New("it is about a message that this room has not")

// revise replaces a message by its revision.
func (j *Journal) revise(by earshot.Event, b earshot.Revision) error {
	i := j.find(b.Of)
	if i < 0 {
		return errNothing
	}
	m, ok := j.events[i].Body.(earshot.Message)
	switch {
	case j.gone(b.Of): // what is derived from it is gone too
		return nil
	case !ok:
		return errNothing
	}
	m.Text, m.Revised = b.Text, by.At
	j.events[i].Body = m
	for k := range j.events {
		switch had := j.events[k].Body.(type) {
		case earshot.Revision:
			if had.Of == b.Of {
				j.events[k].Body = earshot.Revision{Of: had.Of}
			}
		case earshot.Edit:
			if had.Item == string(b.Of) {
				erase(&j.events[k])
			}
		}
	}
	return nil
}

// withdraw erases a message and everything derived from it.
func (j *Journal) withdraw(b earshot.Withdrawal) (earshot.Withdrawal, error) {
	i := j.find(b.Of)
	if i < 0 {
		return b, errNothing
	}
	b.Was = j.events[i].Body.Kind()
	erase(&j.events[i])
	for k := range j.events { // derived events come later
		if slices.ContainsFunc(j.events[k].Sources, j.gone) {
			erase(&j.events[k])
			b.With = append(b.With, j.events[k].ID)
		}
	}
	return b, nil
}

// Forget erases events and everything derived from them, and returns their IDs.
func (j *Journal) Forget(ids ...earshot.EventID) (gone []earshot.EventID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for k := range j.events { // derived events come later
		e := &j.events[k]
		if e.Body.Kind() != earshot.KindErased && (slices.Contains(ids, e.ID) || slices.ContainsFunc(e.Sources, j.gone)) {
			gone = append(gone, e.ID)
			erase(e)
		}
	}
	return gone
}

// Slow makes every later commit take d.
func (j *Journal) Slow(d time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.takes = d
}

// Fail makes every Append fail with err, until it is called with nil.
func (j *Journal) Fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fault = err
}

// RefuseIf makes every Append fail that contains an event for which why returns an error.
func (j *Journal) RefuseIf(why func(earshot.Event) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refuse = why
}

// From makes the first event get the sequence after this one, as if there had been others.
func (j *Journal) From(sequence int64) { j.from = sequence }

// Events returns all stored events, in order.
func (j *Journal) Events() []earshot.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]earshot.Event(nil), j.events...)
}
