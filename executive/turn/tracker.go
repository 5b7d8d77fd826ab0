package turn

import (
	"slices"
	"sync"
	"time"

	"earshot"
)

// A Tracker shows the progress of a turn, and when things happened in it. Its methods are safe for
// concurrent use, and add no allocation to the turn. Set its fields before the turn begins.
type Tracker struct {
	// Moved is called when Progress has changed. It is called in the middle of the turn, and must
	// return at once. May be nil.
	Moved func()

	Now func() time.Time // if nil, time.Now is used

	mu      sync.Mutex
	state   *State
	names   []string
	paused  bool
	moments Timings
}

// Timings are when things first happened in a turn; the zero time means never.
type Timings struct {
	Clause time.Time // something was handed to an outlet
	Heard  time.Time // something came out of one
	Cut    time.Time // somebody cut in; noted just before the outlets are told
	Over   time.Time // nothing comes out any more
}

// A Progress is the state of a turn at one moment.
type Progress struct {
	Text   earshot.Text       // what was offered so far
	Heard  []earshot.Delivery // how much of it was heard, by outlet
	Paused bool
	Timings
}

// Progress returns the progress of the turn; the zero value before the turn has begun.
func (w *Tracker) Progress() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := Progress{Paused: w.paused, Timings: w.moments}
	if w.state == nil {
		return p
	}
	p.Text = earshot.Text(w.state.offered)
	for i, o := range w.state.outlets {
		p.Heard = append(p.Heard, earshot.Delivery{Outlet: w.names[i], Bytes: o.heard})
	}
	return p
}

// Timings returns when things happened.
func (w *Tracker) Timings() Timings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moments
}

// begin makes the tracker show a turn from now on.
func (w *Tracker) begin(s *State, names []string) {
	w.mu.Lock()
	w.state, w.names = s, slices.Clone(names)
	w.mu.Unlock()
}

// step has the state take a step, and notes the result.
func (w *Tracker) step(s *State, e Event) []Act {
	w.mu.Lock()
	acts := s.Next(e)
	if w.moments.Clause.IsZero() && slices.ContainsFunc(acts, func(a Act) bool { return a.Kind == Say && a.Clause.Text != "" }) {
		w.moments.Clause = w.now()
	}
	if w.moments.Heard.IsZero() && e.Kind == Heard && slices.ContainsFunc(s.outlets, func(o outlet) bool { return o.heard > 0 }) {
		w.moments.Heard = w.now()
	}
	if w.moments.Over.IsZero() && s.ended {
		w.moments.Over = w.now()
	}
	w.mu.Unlock()
	if w.Moved != nil {
		w.Moved()
	}
	return acts
}

// told notes what the outlets are told.
func (w *Tracker) told(c earshot.Control) {
	w.mu.Lock()
	moved := w.paused != (c == earshot.Pause)
	w.paused = c == earshot.Pause
	if c == earshot.Cut && w.moments.Cut.IsZero() {
		w.moments.Cut = w.now()
	}
	w.mu.Unlock()
	if moved && w.Moved != nil {
		w.Moved()
	}
}

// now returns the current time. The caller holds w.mu.
func (w *Tracker) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}
