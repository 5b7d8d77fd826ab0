package delivery

import (
	"slices"

	"earshot"
)

// mostHeard is how many people's places are remembered. Beyond that all are forgotten: whoever speaks
// then is remembered again.
const mostHeard = 64

// NoteHeard notes beside which outlet somebody was heard, who may be unknown.
func (s *Set) NoteHeard(who earshot.ParticipantID, outlet string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = outlet
	if s.where == nil || len(s.where) >= mostHeard {
		s.where = make(map[earshot.ParticipantID]string)
	}
	if who != "" {
		s.where[who] = outlet
	}
}

// WithOneVoice returns some outlets with only one that is audible: beside which who was heard last, or
// that with the name via, or where anybody was heard last, or else the one that came first. Two voices
// in one room would say the same, and not quite at the same time.
func (s *Set) WithOneVoice(some []*Outlet, who earshot.ParticipantID, via string) []*Outlet {
	s.mu.Lock()
	names := []string{s.where[who], via, s.last}
	s.mu.Unlock()
	var one *Outlet
	rank := len(names) + 1
	for _, p := range some {
		at := slices.Index(names, p.Name())
		if at < 0 {
			at = len(names)
		}
		if p.Audible() && at < rank {
			one, rank = p, at
		}
	}
	return slices.DeleteFunc(slices.Clone(some), func(p *Outlet) bool { return p.Audible() && p != one })
}

// Follow makes the speech of the last turn go on at the audible outlet with a name, if everybody around
// that may hear it, and reports whether there is something to do: [Set.Move] does it.
func (s *Set) Follow(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	voice := slices.IndexFunc(s.turn, func(t *TurnOutlet) bool { return t.Audible() })
	to := slices.IndexFunc(s.all, func(p *Outlet) bool { return p.Audible() && p.Name() == name })
	if voice < 0 || to < 0 || s.turn[voice].place() == s.all[to] || !s.turn[voice].visibility.Allows(s.all[to].Around()) {
		return false
	}
	t, p := s.turn[voice], s.all[to]
	s.follow = func() { t.relay.move(p) }
	return true
}

// Move returns what does what [Set.Follow] began: it waits until the speech has ended at one outlet and
// the other has taken the rest. It is nil if there is nothing to do.
func (s *Set) Move() (move func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	move, s.follow = s.follow, nil
	return move
}

// Places returns where the reply of the last turn came out, of which turn.Run has told the outlets where
// it began: one that has moved was heard at each place up to there.
func (s *Set) Places(heard []earshot.Delivery) []earshot.Delivery {
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	all := slices.Clone(heard)
	for i, t := range turn {
		if left := t.relay.left(); len(left) > 0 && i < len(all) {
			all[i].Outlet = t.place().Name()
			all = append(all, left...)
		}
	}
	return all
}
