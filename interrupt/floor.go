package interrupt

import (
	"sync"

	"earshot"
)

// A Floor is who may be heard in a room. At most one hold is on it. The zero
// value is free and polite. Its methods may be called from any goroutine.
type Floor struct {
	Style Style // not to be changed once in use

	mu      sync.Mutex
	hold    *Hold
	demands map[earshot.Handle]earshot.Control // what each source asks for at present, Duck or Pause
	state   earshot.Control                    // what hold was last told; Resume is the normal state
}

// A Hold is the floor while somebody has it.
type Hold struct {
	floor *Floor
	do    func(earshot.Control, *Signal)
}

// Take takes the floor, and reports whether it was free. From then until the
// hold is released or cut, do is told of every change; it runs under the
// floor's lock, so it must neither block nor call the floor. Somebody who is
// already typing or speaking holds the new turn back at once: do may be called
// before Take returns. After a cut do is called no more.
func (f *Floor) Take(do func(earshot.Control, *Signal)) (*Hold, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hold != nil {
		return nil, false
	}
	f.hold, f.state = &Hold{f, do}, earshot.Resume
	f.settle(nil)
	return f.hold, true
}

// Release gives the floor back. It may be called twice, also after a cut.
func (h *Hold) Release() {
	h.floor.mu.Lock()
	defer h.floor.mu.Unlock()
	if h.floor.hold == h {
		h.floor.hold = nil
	}
}

// Held reports whether somebody has the floor.
func (f *Floor) Held() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hold != nil
}

// Signal judges s and acts on whoever holds the floor, before it returns. It
// returns what the gate said, whether or not anybody held the floor. It never
// blocks.
func (f *Floor) Signal(s *Signal) Action {
	f.mu.Lock()
	defer f.mu.Unlock()
	action := Judge(f.Style, s.Kind)
	switch action {
	case Duck:
		f.demand(s.From, earshot.Duck)
	case Pause:
		f.demand(s.From, earshot.Pause)
	case Resume, Cut:
		delete(f.demands, s.From) // who has spoken no longer holds anybody back
	}
	if action == Cut && f.hold != nil {
		f.hold.do(earshot.Cut, s)
		f.hold = nil
		return action
	}
	f.settle(s)
	return action
}

// maxSources bounds the demands: more sources than a room has people are a
// fault, or an attack, and those beyond it cannot hold anybody back.
const maxSources = 256

func (f *Floor) demand(from earshot.Handle, c earshot.Control) {
	if f.demands == nil {
		f.demands = make(map[earshot.Handle]earshot.Control)
	}
	if _, known := f.demands[from]; known || len(f.demands) < maxSources {
		f.demands[from] = c
	}
}

// settle tells the holder if the sum of all demands has changed.
func (f *Floor) settle(s *Signal) {
	if f.hold == nil {
		return
	}
	want := earshot.Resume
	for _, c := range f.demands {
		want = max(want, c)
	}
	if want != f.state {
		f.state = want
		f.hold.do(want, s)
	}
}
