package room

import (
	"context"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/reflex"
	"earshot/executive/scene"
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

	history history
	said    []earshot.Event // its last replies of which something was offered
	cut     []earshot.Event // its replies that were cut off and can be resumed; see resume.go
	foreign int             // how many times its model wrote in others' names since it was last told not to

	askers  []participants.Participant // to whom its model last replied
	writers []participants.Participant // the authors in the last prompt of its model; also for thoughts, whose prompts begin the same

	sections   string // what its prompt says about who is there
	sectionsOf sectionsKey

	left sleepingHistory // of the dialogue, while it sleeps
}

// A sectionsKey is what a seat's [seat.sections] are made from.
type sectionsKey struct {
	roster *participants.Roster
	tools  bool // the agent has tools
}

// A sleepingHistory is what a sleeping seat remembers of its dialogue: the events it was made from,
// but not their text.
type sleepingHistory struct {
	lines []earshot.EventID // in order
	said  []earshot.EventID
	until int64 // the newest event at that time
}

// sees reports whether an agent may see something of visibility v.
func sees(v earshot.Visibility, agent earshot.ParticipantID) bool {
	return v.Allows(earshot.Audience{}.With(agent))
}

// learn takes an event into the dialogue, if it belongs there.
func (s *seat) learn(e earshot.Event, people *participants.Registry) {
	s.history.mended(e)
	s.history.revised(e)
	l, ok := s.line(e, people)
	switch {
	case !ok:
	case l.announces:
		s.history.announced(l)
	default:
		s.history.add(l)
	}
}

// line returns an event as a line of the dialogue. What was said aloud to others is none: people
// talk all day, and would drive out everything else.
func (s *seat) line(e earshot.Event, people *participants.Registry) (line, bool) {
	l := line{event: e.ID, sequence: e.Sequence, at: e.At, author: e.Author, from: e.From, to: e.To, visibility: e.Visibility}
	switch body := e.Body.(type) {
	case earshot.Message:
		l.revised, l.ownWords = body.Revised, body.OwnWords
		l.about, l.text, l.turn, l.answers, l.attached = body.About, body.Whole(), body.Turn, body.ReplyTo, body.Attachments
		if e.Author == s.ID && body.About == "" && len(e.To) > 0 { // it did not say this aloud
			l.text, l.note = "", "You wrote to "+people.Name(e.To[0])+": "+quotation(body.Text)
		}
	case earshot.Utterance:
		l.text, l.aloud, l.voice, l.continues, l.manner = body.Text, true, body.Speaker, body.Continues, manner(e.Author, body)
		return l, slices.Contains(e.To, s.ID)
	case earshot.Presence:
		l.to, l.announces, l.comes = nil, true, body.Here
		l.note = announcement(people, e.Author, body)
	case earshot.Reply:
		l.about, l.text, l.turn, l.replies = body.About, body.Delivered(), body.Turn, true
		l.ownWords = slices.ContainsFunc(s.history.lines, func(x line) bool { return x.event == l.about && x.ownWords })
		if body.Handover != nil { // these are the program's words
			return s.handed(l, body.Handover, people), true
		}
		if body.Reflex && strings.HasPrefix(string(l.text), reflex.Reporting) {
			l.text = "" // what a reflex reported of the program's faults is nobody's own word
		}
		if e.Author != s.ID {
			if !s.history.has(l.about) {
				l.about = "" // another agent was asked, so it stands where it came
			}
			return l, l.text != ""
		}
		l.to, l.note = nil, ended(body, people.Name)
		return l, body.Offered != "" || l.note != ""
	default:
		return l, false
	}
	return l, true
}

// overhears takes words that were said aloud to nobody in particular into the dialogue, since the
// agent answers them, with their later corrections.
func (s *seat) overhears(e earshot.Event, changes []scene.Version) {
	if u, aloud := e.Body.(earshot.Utterance); aloud && !s.history.has(e.ID) {
		s.history.add(line{event: e.ID, at: e.At, author: e.Author, from: e.From, text: u.Text, visibility: e.Visibility, aloud: true, voice: u.Speaker, manner: manner(e.Author, u)})
		for _, v := range slices.Backward(changes) {
			s.history.mended(v.Edit)
		}
	}
}

// quotation returns text as it stands in a sentence of the program's own: it can neither end the
// sentence nor continue it.
func quotation(text earshot.Text) string {
	return `"` + strings.ReplaceAll(string(oneLine(text)), `"`, "'") + `"`
}

// handed returns the line l of a reply by which agents handed over.
func (s *seat) handed(l line, h *earshot.Handover, people *participants.Registry) line {
	to := "a person"
	if h.To != "" {
		to = people.Name(h.To)
	}
	l.note = people.Name(l.author) + " has handed over to " + to + "."
	if h.Why == earshot.Apart {
		l.note += " It had called an agent of another user, which only people may; tell them what you want of it."
	}
	l.author, l.about, l.to, l.text = s.ID, "", nil, ""
	return l
}

// spoke remembers a reply, for people who ask what was said.
func (s *seat) spoke(reply earshot.Event) {
	s.said = append(s.said, reply)
	s.said = slices.Delete(s.said, 0, max(0, len(s.said)-keepSaid))
}

// latest returns the last reply that everybody in a may know.
func (s *seat) latest(a earshot.Audience) earshot.Event {
	for _, said := range slices.Backward(s.said) {
		if said.Visibility.Allows(a) {
			return said
		}
	}
	return earshot.Event{}
}

// sleep frees the dialogue, and keeps what is needed to restore it.
func (s *seat) sleep(newest int64) {
	left := sleepingHistory{until: newest}
	for _, l := range s.history.lines {
		left.lines = append(left.lines, l.event)
	}
	for _, said := range s.said {
		left.said = append(left.said, said.ID)
	}
	s.history, s.said, s.sections, s.sectionsOf, s.left = history{recent: s.history.recent}, nil, "", sectionsKey{}, left
}

// wake restores the dialogue from the newest events that the agent may see: the dialogue when it
// fell asleep, and what has happened since. A seat that was never awake has heard all of them;
// began is the newest event from before the program began.
func (s *seat) wake(events []earshot.Event, began int64, people *participants.Registry) {
	known := make(map[earshot.EventID]earshot.Event, len(events))
	for _, e := range events {
		known[e.ID] = e
	}
	for _, id := range s.left.lines {
		if l, ok := s.line(known[id], people); ok {
			s.history.lines = append(s.history.lines, l)
		}
	}
	for _, e := range events {
		if e.Sequence <= s.left.until {
			s.history.mended(e)
			s.history.revised(e)
		}
	}
	s.said = nil // replies from before the program began are among events
	for _, id := range s.left.said {
		if e, ok := known[id]; ok {
			s.spoke(e)
		}
	}
	fresh := s.left.until == 0
	for _, e := range events {
		if e.Sequence <= s.left.until {
			continue
		}
		if fresh && e.Sequence > began {
			s.history.nobody()
			fresh = false
		}
		s.learn(e, people)
		s.relearn(e)
	}
	if fresh {
		s.history.nobody()
	}
	s.left = sleepingHistory{}
}

// relearn remembers e if it is a reply of the agent's own, from before the agent can explain how it
// came about.
func (s *seat) relearn(e earshot.Event) {
	if body, ok := e.Body.(earshot.Reply); ok && e.Author == s.ID && body.Offered != "" && body.Handover == nil {
		s.spoke(e)
		s.trackCut(e)
	}
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
			s = &seat{awake: r.cfg.Recall == nil, touched: r.cfg.Now(), history: history{recent: r.recallable}}
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
	s.wake(events, r.began, r.cfg.People)
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

// nextSleep returns when the first seat may go to sleep.
func (r *Room) nextSleep() (first time.Time) {
	for _, s := range r.seats {
		if at, ok := r.sleeps(s); ok && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// sleepIdle puts to sleep to whom nothing has happened for a while.
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
	after := r.cfg.Settings().AgentsSleepAfter.Duration()
	return s.touched.Add(after), after > 0 && !talks
}
