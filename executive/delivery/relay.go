package delivery

import (
	"sync"
	"time"

	"earshot"
)

// silent is how long a voice may take after a cut to report where it stopped. It is then taken for
// silent: it has ended, or nobody can tell.
const silent = 500 * time.Millisecond

// A relay is a speech that comes out of one outlet after another. Where it moves, it is cut, and goes on
// at the beginning of the clause that was being heard, as far as the outlet has reported.
type relay struct {
	open   func(*Outlet, func(earshot.Heard)) (earshot.Speaking, error)
	report func(earshot.Heard)

	receipt func(outlet string, heard earshot.Text) []byte // makes one; nil if nobody could read it
	owned   func() bool                                    // see [Set]

	control sync.Mutex // held while the outlet is told what to do; it may report at the same time

	mu       sync.Mutex
	at       *Outlet          // nil before it begins
	speaking earshot.Speaking // nil while no outlet is open
	told     earshot.Control
	leg      int // how often it has moved
	base     int // the clause with which this leg began
	pos      earshot.Heard
	ended    chan struct{} // closed when the outlet of this leg gives out nothing more
	moving   bool
	handing  bool // clauses are being handed over
	finished bool
	places   []earshot.Delivery // where it has left off
	text     []byte             // of all clauses
	starts   []int              // where in text each clause begins

	hand    sync.Mutex // held while clauses are handed over
	clauses []earshot.Clause
	next    int // of them
}

func (r *relay) place() *Outlet {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func (r *relay) left() []earshot.Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.places
}

// shut ends the speech wherever it is.
func (r *relay) shut() { r.Do(earshot.Cut) }

// begin opens an outlet for the next leg.
func (r *relay) begin(p *Outlet) error {
	r.mu.Lock()
	r.at, r.speaking, r.ended = p, nil, make(chan struct{})
	leg := r.leg
	r.mu.Unlock()
	speaking, err := r.open(p, func(h earshot.Heard) { r.hear(leg, h) })
	r.control.Lock()
	defer r.control.Unlock()
	r.mu.Lock()
	r.moving, r.speaking = false, speaking
	told := r.told
	r.mu.Unlock()
	if err == nil && told != earshot.Resume {
		speaking.Do(told)
	}
	return err
}

// hear takes in how far the outlet of a leg has come. While the speech moves, its end is that of the leg.
func (r *relay) hear(leg int, h earshot.Heard) {
	r.mu.Lock()
	if leg != r.leg {
		r.mu.Unlock()
		return
	}
	h.Clause += r.base
	further := h.Clause > r.pos.Clause || h.Clause == r.pos.Clause && h.Byte > r.pos.Byte
	if further {
		r.pos.Clause, r.pos.Byte = h.Clause, h.Byte
	}
	if h.End {
		close(r.ended)
		h.End = !r.moving
	}
	at, heard := r.at, r.heard()
	r.mu.Unlock()
	if to, ok := at.Outlet.(earshot.ReceiptHolder); ok && further && r.receipt != nil {
		if made := r.receipt(at.Name(), earshot.Text(heard)); made != nil { // or else the one before remains
			to.KeepReceipt(made) // before the turn can end
		}
	}
	r.report(h)
}

// heard returns the text that was heard. The caller holds mu.
func (r *relay) heard() []byte {
	if r.pos.Clause >= len(r.starts) {
		return r.text
	}
	return r.text[:min(r.starts[r.pos.Clause]+r.pos.Byte, len(r.text))]
}

// Say implements [earshot.Speaking].
func (r *relay) Say(c earshot.Clause) error {
	r.hand.Lock()
	defer r.hand.Unlock()
	r.clauses = append(r.clauses, c)
	r.mu.Lock()
	r.starts, r.text = append(r.starts, len(r.text)), append(r.text, c.Text...)
	r.mu.Unlock()
	return r.pump()
}

// pump hands over the clauses that are left. The caller holds hand.
func (r *relay) pump() (err error) {
	r.mu.Lock()
	speaking, base, leg := r.speaking, r.base, r.leg
	r.handing = true
	r.mu.Unlock()
	for err == nil && speaking != nil && r.next < len(r.clauses) {
		if r.owned != nil && !r.owned() { // this process stood still, perhaps, and nothing has told it so far
			err = errTaken
			break
		}
		c := r.clauses[r.next]
		c.N, r.next = r.next-base, r.next+1
		err = speaking.Say(c)
	}
	r.mu.Lock()
	r.handing = false
	moved, finished := r.moving || r.leg != leg, r.finished
	r.mu.Unlock()
	if moved {
		return nil // what is left is said at the next outlet
	}
	if finished && speaking != nil && err == nil {
		speaking.Finish()
	}
	return err
}

// Do implements [earshot.Speaking].
func (r *relay) Do(c earshot.Control) {
	r.control.Lock()
	defer r.control.Unlock()
	r.mu.Lock()
	if r.told != earshot.Cut {
		r.told = c
	}
	speaking := r.speaking
	r.mu.Unlock()
	if speaking != nil {
		speaking.Do(c)
	}
}

// Finish implements [earshot.Speaking].
func (r *relay) Finish() {
	r.mu.Lock()
	r.finished = true
	speaking := r.speaking
	if r.handing || r.moving {
		speaking = nil // who hands over the last clause does it
	}
	r.mu.Unlock()
	if speaking != nil {
		speaking.Finish()
	}
}

// move makes the speech go on at p. It does nothing if the speech was cut or has ended.
func (r *relay) move(p *Outlet) {
	if !r.leave(p) {
		return
	}
	r.hand.Lock() // the outlet that was cut takes no more, and says so at once
	defer r.hand.Unlock()
	r.mu.Lock()
	from, at, heard := r.at.Name(), r.pos, len(r.heard())
	if at.Clause < len(r.clauses) && at.Byte >= len(r.clauses[at.Clause].Text) {
		at.Clause++ // it was heard to its end
	}
	end := earshot.Heard{Clause: r.pos.Clause, Byte: r.pos.Byte, End: true}
	over := r.told == earshot.Cut || r.finished && at.Clause >= len(r.clauses)
	if r.leg++; !over {
		r.base, r.next = at.Clause, at.Clause
		r.places = append(r.places, earshot.Delivery{Outlet: from, Bytes: heard})
	}
	r.mu.Unlock()
	if over || r.begin(p) != nil {
		r.report(end)
		return
	}
	if r.pump() != nil {
		r.Do(earshot.Cut)
	}
}

// leave ends the speech where it is, and reports whether it can go on at p.
func (r *relay) leave(p *Outlet) bool {
	r.mu.Lock()
	if r.speaking == nil || r.moving || r.told == earshot.Cut || r.at == p {
		r.mu.Unlock()
		return false
	}
	select {
	case <-r.ended: // all of it was heard, or the device is lost
		r.mu.Unlock()
		return false
	default:
	}
	r.moving = true
	speaking, ended := r.speaking, r.ended
	r.mu.Unlock()
	speaking.Do(earshot.Cut)
	select {
	case <-ended:
	case <-time.After(silent):
	}
	return true
}
