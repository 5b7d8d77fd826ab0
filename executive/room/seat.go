package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/participants/paths"
)

// A seat is one agent in this room, and what it has heard and said here. It belongs to Run, except
// that others may read whether it is awake.
type seat struct {
	agents.Record // the current version

	awake   bool      // the dialogue is in memory
	touched time.Time // when it was last called, or spoke

	history dialogue.History
	foreign int // how many times its model wrote in others' names since it was last told not to

	askers  []participants.Participant // to whom its model last replied
	writers []participants.Participant // the authors in the last prompt of its model; also for thoughts, whose prompts begin the same

	sections   string // what its prompt says about who is there
	sectionsOf sectionsKey
}

// A sectionsKey is what a seat's [seat.sections] are made from.
type sectionsKey struct {
	roster *participants.Roster
	tools  bool // the agent has tools
}

// sees reports whether an agent may see something of visibility v.
func sees(v earshot.Visibility, agent earshot.ParticipantID) bool {
	return v.Allows(earshot.Audience{}.With(agent))
}

// agents returns the agents with a seat in the room, the main one first. There is always one.
func (r *Room) agents() []agents.Record {
	if r.cfg.Agents != nil {
		if list := r.cfg.Agents(); len(list) > 0 {
			return list
		}
	}
	return []agents.Record{{ID: participants.Agent, Role: paths.RoleUser, Profile: earshot.Profile{Name: r.cfg.Settings().Name}}}
}

// seatOf returns the seat of an agent, or nil if it has none.
func (r *Room) seatOf(agent earshot.ParticipantID) *seat {
	for _, s := range r.seats {
		if s.ID == agent {
			return s
		}
	}
	return nil
}

// Reseat says that the seats in the room may have changed. If an agent has lost its seat, its
// speech ends in a moment, and questions to it are given up; its words stay.
func (r *Room) Reseat() { r.nudge() }

// syncSeats gives a seat to each agent that now has one, and takes it from each that has none any
// more. An agent that was asked by another is then no longer listened to. It reports whether any
// agent came or went.
func (r *Room) syncSeats() (changed bool) {
	var now []*seat
	list := r.agents()
	r.mu.Lock()
	had := make(map[earshot.ParticipantID]*seat, len(r.seats))
	for _, s := range r.seats {
		had[s.ID] = s
	}
	for _, a := range list {
		s := had[a.ID]
		if s == nil {
			changed = true
			s = &seat{awake: r.cfg.Recall == nil, touched: r.cfg.Now(), history: dialogue.History{Agent: a.ID, Recent: r.recallable}}
		}
		s.Record = a
		now = append(now, s)
	}
	changed = changed || len(now) != len(r.seats)
	r.seats = now
	live := r.activeTurn
	for _, e := range r.awaitedSeats {
		if e.seat != nil && !slices.Contains(now, e.seat) {
			e.end(errGone)
		}
	}
	r.mu.Unlock()
	if live != nil && !slices.Contains(now, live.seat) {
		live.end()
	}
	r.drop(func(q question) bool { return !slices.Contains(now, q.seat) })
	return changed
}

// wakeSeat wakes a sleeping seat.
func (r *Room) wakeSeat(ctx context.Context, s *seat) error {
	if s.awake {
		return nil
	}
	events, err := r.cfg.Recall(ctx, s.ID)
	if err != nil {
		return err
	}
	s.history.Wake(events, r.began, r.cfg.People)
	r.awake(s, true)
	return nil
}

// awake notes whether a seat is awake.
func (r *Room) awake(s *seat, is bool) {
	s.touched = r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.awake = is
}

// sleep frees the dialogue, and the sections made from the roster. newest is the newest event.
func (s *seat) sleep(newest int64) {
	s.history.Sleep(newest)
	s.sections, s.sectionsOf = "", sectionsKey{}
}

// nextSleep returns when the first seat may go to sleep; the zero time if none may.
func (r *Room) nextSleep() (first time.Time) {
	for _, s := range r.seats {
		if at, ok := r.sleeps(s); ok && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// sleepIdle puts the seats to sleep to which nothing has happened for a while.
func (r *Room) sleepIdle(context.Context) {
	for _, s := range r.seats {
		if at, ok := r.sleeps(s); ok && !r.cfg.Now().Before(at) {
			s.sleep(r.newest)
			r.awake(s, false)
		}
	}
}

// sleeps returns when a seat goes to sleep if nothing happens to it. A seat that talks, or is about
// to, does not.
func (r *Room) sleeps(s *seat) (time.Time, bool) {
	if !s.awake || r.cfg.Recall == nil || slices.ContainsFunc(r.pending, func(q question) bool { return q.seat == s }) {
		return time.Time{}, false
	}
	r.mu.Lock()
	talks := r.activeTurn != nil && r.activeTurn.seat == s
	r.mu.Unlock()
	after := r.set.AgentsSleepAfter.Duration()
	return s.touched.Add(after), after > 0 && !talks
}
