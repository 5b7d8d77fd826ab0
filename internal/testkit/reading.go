package testkit

import (
	"context"
	"slices"

	"earshot"
)

// A Reading returns what everybody in an audience may know of a [Journal].
type Reading struct {
	journal *Journal
	to      earshot.Audience
}

// For returns the reading for an audience.
func (j *Journal) For(a earshot.Audience) Reading { return Reading{j, a} }

// read returns the events that may be known and for which keep is true.
func (r Reading) read(keep func(earshot.Event) bool) (all []earshot.Event) {
	for _, e := range r.journal.Events() {
		if e.Visibility.Allows(r.to) && keep(e) {
			all = append(all, e)
		}
	}
	return all
}

// Decisions returns the newest decisions: those of one agent unless agent is empty, and those
// before a sequence unless before is 0.
func (r Reading) Decisions(_ context.Context, agent earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	all := r.read(func(e earshot.Event) bool {
		return e.Body.Kind() == earshot.KindDecision && (agent == "" || e.Author == agent) && (before == 0 || e.Sequence < before)
	})
	return all[max(0, len(all)-limit):], nil
}

// Ends returns the events that ended those of the turns that have ended.
func (r Reading) Ends(_ context.Context, turns []earshot.TurnID) ([]earshot.Event, error) {
	return r.read(func(e earshot.Event) bool {
		reply, is := e.Body.(earshot.Reply)
		return is && slices.Contains(turns, reply.Turn)
	}), nil
}

// Find returns those of the events that exist.
func (r Reading) Find(_ context.Context, ids []earshot.EventID) ([]earshot.Event, error) {
	return r.read(func(e earshot.Event) bool { return slices.Contains(ids, e.ID) }), nil
}

// Bodies returns the bodies of one kind in some events.
func Bodies[B earshot.Body](events []earshot.Event) (list []B) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			list = append(list, b)
		}
	}
	return list
}
