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
	demands map[source]earshot.Control // what each source asks for at present, Duck or Pause
	state   earshot.Control            // what hold was last told; Resume is the normal state
	cuts    Ticket
	last    *Signal // that cut
}

// A source is somebody at one connection: what he does at another terminal
// takes nothing back that he did at this.
type source struct {
	who earshot.Handle
	via string
}

// A Ticket is a place in the order of all cuts. A question draws one when it
// is asked, so that a cut which comes before its turn has begun still counts.
type Ticket int64

// A Hold is the floor while somebody has it.
type Hold struct {
	floor *Floor
	do    func(earshot.Control, *Signal)
}

// Take takes the floor, and reports whether it was free. From then until the
// hold is released or cut, do is told of every change; it runs under the
// floor's lock, so it must neither block nor call the floor. Somebody who is
// already typing or speaking holds the new turn back at once, and who has cut
// since its ticket was drawn has cut it: do may be called before Take returns.
// After a cut do is called no more.
func (f *Floor) Take(since Ticket, do func(earshot.Control, *Signal)) (*Hold, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hold != nil {
		return nil, false
	}
	h := &Hold{f, do}
	if f.cuts > since {
		do(earshot.Cut, f.last)
		return h, true
	}
	f.hold, f.state = h, earshot.Resume
	f.settle(nil)
	return h, true
}

// Ticket returns the place of the last cut.
func (f *Floor) Ticket() Ticket {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cuts
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
	from := source{s.From, s.Via}
	action := Judge(f.Style, s.Kind)
	switch action {
	case Duck:
		f.demand(from, earshot.Duck)
	case Pause:
		f.demand(from, earshot.Pause)
	case Resume, Cut:
		delete(f.demands, from) // who has spoken no longer holds anybody back
	}
	if action == Cut {
		f.cuts, f.last = f.cuts+1, s
		if f.hold != nil {
			f.hold.do(earshot.Cut, s)
			f.hold = nil
		}
		return action
	}
	f.settle(s)
	return action
}

// maxSources bounds the demands: more sources than a room has people are a
// fault, or an attack, and those beyond it cannot hold anybody back.
const maxSources = 256

func (f *Floor) demand(from source, c earshot.Control) {
	if f.demands == nil {
		f.demands = make(map[source]earshot.Control)
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
