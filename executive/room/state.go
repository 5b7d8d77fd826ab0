package room

import (
	"slices"

	"earshot"
	"earshot/api"
	"earshot/executive/question"
	"earshot/executive/snapshot"
	"earshot/executive/think"
)

// State returns the room as everybody in a may know it.
func (r *Room) State(a earshot.Audience) api.RoomState {
	agents := r.agents()
	s := api.RoomState{Room: r.cfg.ID, Agent: agents[0].Name, Here: r.cfg.People.Here(r.cfg.ID)}
	if r.cfg.Works != nil {
		s.Works = r.cfg.Works()
	}
	s.Company = r.presence.Estimate(r.cfg.Now())
	all := r.cfg.People.Operate(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Mode, s.Quiet, s.Dropped = r.mode, r.quiet, r.dropped
	if all {
		s.Waiting = len(r.waiting) + r.asked
	}
	var live *question.Question
	if r.activeTurn != nil {
		live = &r.activeTurn.Question
	}
	s.Agents = snapshot.Agents(agents, r.seats, live, r.latencies, a)
	s.Speaking = live != nil && live.Message.Visibility.Allows(a)
	for _, p := range r.places.All() {
		if all || p.Near(a) {
			s.Outlets = append(s.Outlets, p.Name())
		}
	}
	s.Faults = r.faults.All()
	s.Works = slices.DeleteFunc(s.Works, r.faults.Has)
	return s
}

// Busy reports whether anything remains to be kept, answered, said or thought. It is for programs
// that replay a conversation, not for its participants.
func (r *Room) Busy() bool {
	if types, _ := r.activity.About(r.cfg.Now()); r.mind.Busy() || r.mind.Has(func(think.Question) bool { return true }) && !types && r.mind.Enabled() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn != nil || r.captioner.Running.Load() || len(r.waiting)+r.asked > 0
}

// Still reports whether nothing is being said, and nothing waits to be.
func (r *Room) Still() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn == nil && r.coming+len(r.waiting)+r.asked == 0
}
