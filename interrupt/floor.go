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
	demands map[source]demand
	state   earshot.Control // what hold was last told; Resume is the normal state
	stays   earshot.Control // what hold stays at although nobody asks for it any more
	cuts    Ticket
	stops   Ticket  // the last of them that was meant for all
	last    *Signal // that cut
}

// A source is somebody at one connection: what he does at another terminal
// takes nothing back that he did at this.
type source struct {
	who earshot.Handle
	via string
}

// A demand is what a source asks for at present: Duck or Pause.
type demand struct {
	earshot.Control
	sound bool // it is a voice, which what is only read does not disturb
}

// A Ticket is a place in the order of all cuts. A question draws one when it
// is asked, so that a cut which comes before its turn has begun still counts.
type Ticket int64

// A Hold is the floor while somebody has it.
type Hold struct {
	floor *Floor
	aloud bool
	do    func(earshot.Control, *Signal)
}

// Take takes the floor, and reports whether it was free. From then until the
// hold is released or cut, do is told of every change; it runs under the
// floor's lock, so it must neither block nor call the floor. Somebody who is
// already typing or speaking holds the new turn back at once, and who has cut
// since its ticket was drawn has cut it: do may be called before Take returns.
// After a cut do is called no more. A turn that is not aloud is not held back by
// voices.
func (f *Floor) Take(since Ticket, aloud bool, do func(earshot.Control, *Signal)) (*Hold, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hold != nil {
		return nil, false
	}
	h := &Hold{f, aloud, do}
	if f.cuts > since {
		do(earshot.Cut, f.last)
		return h, true
	}
	f.hold, f.state, f.stays = h, earshot.Resume, earshot.Resume
	f.settle(nil)
	return h, true
}

// Ticket returns the place of the last cut.
func (f *Floor) Ticket() Ticket {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cuts
}

// Since returns who has cut last, if somebody has since t was drawn, and else nil.
func (f *Floor) Since(t Ticket) *Signal {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cuts > t {
		return f.last
	}
	return nil
}

// Renew returns a ticket for a question that has waited with t, while others were
// cut for one that was asked later, with the ticket later. It is as good as if it
// had been asked after those cuts; but a command since t, which means everybody,
// counts still.
func (f *Floor) Renew(t, later Ticket) Ticket {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stops > t {
		return t
	}
	return max(t, later)
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
		f.demand(from, demand{earshot.Duck, s.Kind.sounds()})
	case Pause:
		f.demand(from, demand{earshot.Pause, s.Kind.sounds()})
	case Stay:
		f.stays = f.state
		delete(f.demands, from)
	case Resume, Cut:
		delete(f.demands, from) // who has spoken no longer holds anybody back
	}
	if action == Cut {
		f.cuts, f.last = f.cuts+1, s
		if s.Kind == Command || s.Kind == Shutdown {
			f.stops = f.cuts
		}
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

func (f *Floor) demand(from source, d demand) {
	if f.demands == nil {
		f.demands = make(map[source]demand)
	}
	if _, known := f.demands[from]; known || len(f.demands) < maxSources {
		f.demands[from] = d
	}
}

// settle tells the holder if the sum of all demands has changed.
func (f *Floor) settle(s *Signal) {
	if f.hold == nil {
		return
	}
	want := f.stays
	for _, d := range f.demands {
		if f.hold.aloud || !d.sound {
			want = max(want, d.Control)
		}
	}
	if want != f.state {
		f.state = want
		f.hold.do(want, s)
	}
}
