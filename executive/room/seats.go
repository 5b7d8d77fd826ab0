package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/seat"
	"earshot/participants"
	"earshot/participants/agents"
)

// agents returns the agents with a seat in the room, the main one first. There is always one.
func (r *Room) agents() []agents.Record {
	if r.cfg.Agents != nil {
		if list := r.cfg.Agents(); len(list) > 0 {
			return list
		}
	}
	return []agents.Record{{ID: participants.Agent, Role: earshot.RoleUser, Profile: earshot.Profile{Name: r.cfg.Settings().Name}}}
}

// seatOf returns the seat of an agent, or nil if it has none.
func (r *Room) seatOf(agent earshot.ParticipantID) *seat.Seat { return seat.Find(r.seats, agent) }

// Reseat says that the seats in the room may have changed. If an agent has lost its seat, its
// speech ends in a moment, and questions to it are given up; its words stay.
func (r *Room) Reseat() { r.owner.Wake() }

// Announce shows everybody in the room what happened to an agent. It takes effect at once: see
// [Room.Reseat].
func (r *Room) Announce(e earshot.Event) {
	e.Room = r.cfg.ID
	r.Reseat()
	r.show(e)
}

// syncSeats gives a seat to each agent that now has one, and takes it from each that has none any
// more. An agent that was asked by another is then no longer listened to. It reports whether any
// agent came or went.
func (r *Room) syncSeats() (changed bool) {
	var now []*seat.Seat
	list := r.agents()
	r.live.mu.Lock()
	had := make(map[earshot.ParticipantID]*seat.Seat, len(r.seats))
	for _, s := range r.seats {
		had[s.ID] = s
	}
	for _, a := range list {
		s := had[a.ID]
		if s == nil {
			changed = true
			s = &seat.Seat{Awake: r.cfg.Recall == nil, Touched: r.cfg.Now(), History: dialogue.History{Agent: a.ID, Recent: r.recallable}}
		}
		s.Record = a
		now = append(now, s)
	}
	changed = changed || len(now) != len(r.seats)
	r.seats = now
	live := r.live.turn
	r.exchange.Waits.Keep(now)
	r.live.mu.Unlock()
	if live != nil && !slices.Contains(now, live.Seat) {
		live.end()
	}
	r.drop(func(q question.Question) bool { return !slices.Contains(now, q.Seat) })
	return changed
}

// ensureAwake reports whether a seat is awake. If its dialogue cannot be read, that is reported
// once: an answer without it would come from somebody who has forgotten everything.
func (r *Room) ensureAwake(ctx context.Context, s *seat.Seat) bool {
	err := r.wakeSeat(ctx, s)
	ill := r.notices.Faults.Has(memoryFault)
	switch {
	case err != nil:
		r.cfg.Log.Warn("a seat cannot be woken", "agent", s.ID, "err", err)
		r.notices.ReportOnce(earshot.Notice{Key: memoryFault, Text: "the earlier conversation cannot be read, so " + s.Name + " cannot answer", Cure: "earshot doctor"})
	case ill:
		r.Report(earshot.Notice{Key: memoryFault, Text: "the earlier conversation can be read again", Over: true})
	}
	return err == nil
}

// memoryFault is the key of faults of the dialogues.
const memoryFault = "memory"

// wakeSeat wakes a sleeping seat.
func (r *Room) wakeSeat(ctx context.Context, s *seat.Seat) error {
	if s.Awake {
		return nil
	}
	events, err := r.cfg.Recall(ctx, s.ID)
	if err != nil {
		return err
	}
	s.History.Wake(events, r.records.began, r.cfg.People)
	r.awake(s, true)
	return nil
}

// awake notes whether a seat is awake.
func (r *Room) awake(s *seat.Seat, is bool) {
	s.Touched = r.cfg.Now()
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	s.Awake = is
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
			s.Sleep(r.records.newest)
			r.awake(s, false)
		}
	}
}

// sleeps returns when a seat goes to sleep if nothing happens to it. A seat that talks, or is about
// to, does not.
func (r *Room) sleeps(s *seat.Seat) (time.Time, bool) {
	if !s.Awake || r.cfg.Recall == nil || slices.ContainsFunc(r.pending, func(q question.Question) bool { return q.Seat == s }) {
		return time.Time{}, false
	}
	live, _ := r.live.question()
	after := r.set.AgentsSleepAfter.Duration()
	return s.Touched.Add(after), after > 0 && (live == nil || live.Seat != s)
}

// recallable returns a message that the room remembers, as others can quote it.
func (r *Room) recallable(id earshot.EventID) (dialogue.Citation, bool) {
	e := r.entries.Recent(id)
	c := dialogue.Citation{Event: e.ID, By: e.Author, Visibility: e.Visibility, Text: record.TextOf(e)}
	return c, c.Text != ""
}
