package interrupt

import (
	"sync"
	"time"

	"earshot"
)

// A Floor is who may be heard in a room. At most one hold is on it. The zero
// value is free and polite. Its methods may be called from any goroutine.
type Floor struct {
	Style Style // once in use, see [Floor.Adopt]

	mu      sync.Mutex
	adopts  Style // the style as soon as the floor is free
	adopted bool  // there is one
	hold    *Hold
	demands demands
	state   earshot.Control // what hold was last told; Resume is the normal state
	stays   earshot.Control // what hold stays at although nobody asks for it any more
	cuts    Ticket
	stops   Ticket  // the last of them that was meant for all
	ends    Ticket  // the last of them that ends the program
	last    *Signal // that cut
	stop    *Signal // the last of them that was meant for all
}

// A Ticket is a place in the order of all cuts. A question draws one when it
// is asked, so that a cut which comes before its turn has begun still counts.
type Ticket int64

// Terms are how somebody has the floor.
type Terms struct {
	Aloud bool // it is spoken; what is only read is not held back by voices

	// Protected is something that everybody must hear to its end, such as a notice
	// about privacy: it is neither lowered nor held back, and only the end of the
	// program cuts it. What cuts meanwhile cuts what was to follow.
	Protected bool
}

// A Hold is the floor while somebody has it.
type Hold struct {
	floor *Floor
	terms Terms
	do    func(earshot.Control, *Signal)
}

// Take takes the floor, and reports whether it was free. From then until the
// hold is released or cut, do is told of every change; it runs under the
// floor's lock, so it must neither block nor call the floor. Somebody who is
// already typing or speaking holds the new turn back at once, and who has cut
// since its ticket was drawn has cut it: do may be called before Take returns.
// After a cut do is called no more.
func (f *Floor) Take(since Ticket, terms Terms, do func(earshot.Control, *Signal)) (*Hold, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hold != nil {
		return nil, false
	}
	f.style()
	h := &Hold{f, terms, do}
	if f.cuts > since && !terms.Protected || f.ends > since {
		do(earshot.Cut, f.cutter(since))
		return h, true
	}
	f.hold, f.state, f.stays = h, earshot.Resume, earshot.Resume
	f.settle(nil)
	return h, true
}

// Adopt gives the floor another style. Whoever has the floor keeps the one they have it
// with.
func (f *Floor) Adopt(s Style) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.adopts, f.adopted = s, true
	f.style()
}

// CurrentStyle returns the style that holds now.
func (f *Floor) CurrentStyle() Style {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.style()
}

// style returns the style that holds now. The caller holds mu.
func (f *Floor) style() Style {
	if f.adopted && f.hold == nil {
		f.Style, f.adopted = f.adopts, false
	}
	return f.Style
}

// Ticket returns the place of the last cut.
func (f *Floor) Ticket() Ticket {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cuts
}

// Since returns who has cut last, if somebody has since t was drawn, and else nil. What
// was meant for all goes before what came after it.
func (f *Floor) Since(t Ticket) *Signal {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cuts > t {
		return f.cutter(t)
	}
	return nil
}

// cutter returns who has cut since t was drawn. The caller holds mu.
func (f *Floor) cutter(t Ticket) *Signal {
	if f.stops > t {
		return f.stop
	}
	return f.last
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
	action := Judge(f.style(), s.Kind)
	if s.Kind == Unclear {
		f.demands.speaks(from)
	}
	switch action {
	case Duck:
		f.demands.add(from, earshot.Duck, s)
	case Pause:
		f.demands.add(from, f.holds(from, s), s)
	case Stay:
		f.stays = f.state
		f.demands.vain(from, s.At)
	case Resume:
		f.demands.vain(from, s.At)
	case Cut:
		f.demands.meant(from) // who has spoken no longer holds anybody back
		f.cut(s)
		return action
	}
	f.settle(s)
	return action
}

// holds returns what a voice or a key does that the gate says pauses: a voice
// that has just held a polite agent back for nothing, or over and over, such as a
// television, only lowers it, until it means something.
func (f *Floor) holds(from source, s *Signal) earshot.Control {
	if f.Style == Polite && s.Kind.sounds() && f.demands.idle(from, s.At) {
		return earshot.Duck
	}
	return earshot.Pause
}

// cut cuts whoever has the floor.
func (f *Floor) cut(s *Signal) {
	f.cuts, f.last = f.cuts+1, s
	if s.Kind == Command || s.Kind == Shutdown {
		f.stops, f.stop = f.cuts, s
	}
	if s.Kind == Shutdown {
		f.ends = f.cuts
	}
	if f.hold != nil && (!f.hold.terms.Protected || s.Kind == Shutdown) {
		f.hold.do(earshot.Cut, s)
		f.hold = nil
	}
}

// ExpireVoices has those voices hold nobody back any longer at now that have for long,
// and no words came of them: whoever has the floor goes on, lowered. It returns
// when the next of them will have, the zero time if none does.
func (f *Floor) ExpireVoices(now time.Time) (next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next = f.demands.tire(now, f.style())
	f.settle(nil)
	return next
}

// settle tells the holder if the sum of all demands has changed.
func (f *Floor) settle(s *Signal) {
	if f.hold == nil || f.hold.terms.Protected {
		return
	}
	if want := max(f.stays, f.demands.most(f.hold.terms.Aloud)); want != f.state {
		f.state = want
		f.hold.do(want, s)
	}
}
