package turn

import (
	"slices"
	"sync"
	"time"

	"earshot"
)

// A Tracker shows a turn as it goes on, and when what happened. Its methods may be called
// from many goroutines; what it does to the turn costs no allocation. Set its fields
// before the turn begins.
type Tracker struct {
	// Moved is told that Progress returns something else from now on. It is called in
	// the middle of the turn, and returns at once. May be nil.
	Moved func()

	Now func() time.Time // may be nil: then time.Now

	mu      sync.Mutex
	state   *State
	names   []string
	paused  bool
	moments Timings
}

// Timings are when something happened in a turn for the first time; zero is never.
type Timings struct {
	Clause time.Time // something was handed to an outlet
	Heard  time.Time // something came out of one
	Cut    time.Time // somebody has cut in, just before the outlets are told
	Over   time.Time // nothing comes out any more
}

// A Progress is a turn as it stands.
type Progress struct {
	Text   earshot.Text       // offered so far
	Heard  []earshot.Delivery // of it, by outlet
	Paused bool
	Timings
}

// Progress returns the turn as it stands: nothing before it has begun.
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

// Timings returns when what happened.
func (w *Tracker) Timings() Timings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moments
}

// begin shows a turn from now on.
func (w *Tracker) begin(s *State, names []string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.state, w.names = s, slices.Clone(names)
	w.mu.Unlock()
}

// step has the state take a step, and notes what it came to.
func (w *Tracker) step(s *State, e Event) []Act {
	if w == nil {
		return s.Next(e)
	}
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
	if w == nil {
		return
	}
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

// now wants w.mu.
func (w *Tracker) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}
