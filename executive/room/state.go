package room

import (
	"slices"

	"earshot"
	"earshot/api"
	"earshot/executive/think"
	"earshot/participants"
)

// State returns the room as everybody in a may know it.
func (r *Room) State(a earshot.Audience) api.RoomState {
	agents := r.agents()
	s := api.RoomState{Room: r.cfg.ID, Agent: agents[0].Name, Here: r.cfg.People.Here(r.cfg.ID)}
	if r.cfg.Works != nil {
		s.Works = r.cfg.Works()
	}
	s.Company = r.presence.Estimate(r.cfg.Now())
	all := r.operated(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Mode, s.Quiet, s.Dropped = r.is(), r.quiet, r.mode.Dropped()
	if all {
		s.Waiting = r.entries.Waiting() + r.asked
	}
	for _, a := range agents {
		seat := api.Seat{ID: a.ID, Name: a.Name, Path: a.Path, State: api.Sleeping}
		if at := r.seatOf(a.ID); at != nil && at.Awake {
			seat.State = api.Active
		}
		s.Agents = append(s.Agents, seat)
	}
	r.partners(&s, a)
	s.Speaking = r.activeTurn != nil && r.activeTurn.Message.Visibility.Allows(a)
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
	return r.activeTurn != nil || r.captioner.Running.Load() || r.entries.Waiting()+r.asked > 0
}

// Still reports whether nothing is being said, and nothing waits to be.
func (r *Room) Still() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn == nil && r.entries.Len()+r.asked == 0
}

// operated reports whether everybody in a operates the program.
func (r *Room) operated(a earshot.Audience) bool {
	return r.only(a, "")
}

// only reports whether everybody in a is id, or operates the program.
func (r *Room) only(a earshot.Audience, id earshot.ParticipantID) bool {
	if a.Unknown || len(a.Members)+len(a.Agents) == 0 {
		return false
	}
	for _, member := range slices.Concat(a.Members, a.Agents) {
		if p, _ := r.cfg.People.Get(member); member != id && !p.Can(participants.Operate) {
			return false
		}
	}
	return true
}
