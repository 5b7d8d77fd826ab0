package testkit

import (
	"context"
	"slices"

	"earshot"
)

// A Reading is what everybody in an audience may know of a [Journal].
type Reading struct {
	journal *Journal
	to      earshot.Audience
}

// For returns what everybody in a may know.
func (j *Journal) For(a earshot.Audience) Reading { return Reading{j, a} }

// read returns those events that may be known and for which keep holds.
func (r Reading) read(keep func(earshot.Event) bool) (all []earshot.Event) {
	for _, e := range r.journal.Events() {
		if e.Visibility.Allows(r.to) && keep(e) {
			all = append(all, e)
		}
	}
	return all
}

// Decisions returns the newest decisions, of one agent if it is not empty, from
// before a sequence if that is not 0.
func (r Reading) Decisions(_ context.Context, agent earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	all := r.read(func(e earshot.Event) bool {
		return e.Body.Kind() == earshot.KindDecision && (agent == "" || e.Author == agent) && (before == 0 || e.Sequence < before)
	})
	return all[max(0, len(all)-limit):], nil
}

// Ends returns how turns ended, those of them that have.
func (r Reading) Ends(_ context.Context, turns []earshot.TurnID) ([]earshot.Event, error) {
	return r.read(func(e earshot.Event) bool {
		reply, is := e.Body.(earshot.Reply)
		return is && slices.Contains(turns, reply.Turn)
	}), nil
}

// Find returns those of some events that there are.
func (r Reading) Find(_ context.Context, ids []earshot.EventID) ([]earshot.Event, error) {
	return r.read(func(e earshot.Event) bool { return slices.Contains(ids, e.ID) }), nil
}
