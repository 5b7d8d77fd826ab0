package scene

import (
	"cmp"
	"reflect"
	"slices"

	"earshot"
)

// Took records that the scene has taken in the journal event with this sequence, even if the event
// changed nothing.
func (s *Scene) Took(sequence int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	s.outOfOrder = s.outOfOrder || sequence <= s.last
	s.last = max(s.last, sequence)
}

// Counts reports whether the scene has taken in exactly this many events, in order.
func (s *Scene) Counts(events int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken == events && !s.outOfOrder
}

// Resync replaces the scene's first layer by that of fresh, which was rebuilt from the journal, and
// reports whether the two differed. Observations stay. From then on, events are counted from taken.
func (s *Scene) Resync(fresh *Scene, taken int64) (differed bool) {
	fresh.mu.Lock()
	made, edits, last := fresh.made, fresh.edits, fresh.last
	fresh.made, fresh.edits = nil, nil // they belong to s now
	fresh.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range Fields() {
		differed = differed || !s.layer(f).same(cmp.Or(made[f], new(layer)))
	}
	differed = differed || !slices.EqualFunc(s.edits, edits, Version.same)
	if differed {
		s.moves()
	}
	s.made, s.edits = made, edits
	s.taken, s.last, s.outOfOrder = taken, last, false
	return differed
}

// same reports whether two layers are equal, counting entries back from the newest.
func (l *layer) same(m *layer) bool {
	return slices.EqualFunc(l.entries, m.entries, func(a, b entry) bool { return l.count-a.nth == m.count-b.nth && a.same(b) })
}

// same reports whether two entries are equal.
func (e entry) same(f entry) bool {
	if (e.wrong == nil) != (f.wrong == nil) || e.wrong != nil && *e.wrong != *f.wrong {
		return false
	}
	return state{e.Item, e.gone}.same(state{f.Item, f.gone}) && slices.EqualFunc(e.before, f.before, state.same)
}

// same reports whether two states are equal.
func (s state) same(t state) bool {
	if !s.At.Equal(t.At) || !s.Until.Equal(t.Until) || !alike(s.Visibility, t.Visibility) {
		return false
	}
	s.At, s.Until, s.Visibility = t.At, t.Until, t.Visibility
	return reflect.DeepEqual(s, t)
}

// alike reports whether two visibilities are equal.
func alike(v, w earshot.Visibility) bool {
	return v.Scope == w.Scope && slices.Equal(v.Members, w.Members) && slices.Equal(v.Agents, w.Agents) && (v.Agents == nil) == (w.Agents == nil)
}

// same reports whether two edits are equal.
func (v Version) same(w Version) bool { return v.Edit.ID == w.Edit.ID && v.Undone == w.Undone }
