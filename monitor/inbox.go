package monitor

import (
	"sync"

	"earshot"
	"earshot/api"
)

// mostWaiting is how many events wait for the screen at most; whoever brings more waits.
// A journal brings thousands a second at the start, of which the screen shows none.
const mostWaiting = 2048

// An inbox holds what has come until it is shown. Of what is only of use at the moment
// there is the newest alone. The zero value is not usable; see newInbox.
type inbox struct {
	wake chan struct{} // holds one if anything is here

	mu     sync.Mutex
	room   *sync.Cond
	events []earshot.Event
	live   *api.Snapshot
	house  *api.Status
	piece  *Piece
	rest   []any // what is rare
	shut   bool
}

func newInbox() *inbox {
	b := &inbox{wake: make(chan struct{}, 1)}
	b.room = sync.NewCond(&b.mu)
	return b
}

// event adds an event. It waits while there are too many.
func (b *inbox) event(e earshot.Event) {
	b.mu.Lock()
	for len(b.events) >= mostWaiting && !b.shut {
		b.room.Wait()
	}
	b.events = append(b.events, e)
	b.mu.Unlock()
	b.ring()
}

// put adds anything else, and never waits.
func (b *inbox) put(what any) {
	b.mu.Lock()
	switch w := what.(type) {
	case api.Snapshot:
		b.live = &w
	case api.Status:
		b.house = &w
	case Piece:
		b.piece = &w
	default:
		b.rest = append(b.rest, w)
	}
	b.mu.Unlock()
	b.ring()
}

func (b *inbox) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns what is here, in the order in which it is to be known: who exists before
// what they did.
func (b *inbox) take() (all []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.house != nil {
		all = append(all, *b.house)
	}
	if b.live != nil {
		all = append(all, *b.live)
	}
	all = append(all, b.rest...)
	if len(b.events) > 0 {
		all = append(all, Events(b.events))
	}
	if b.piece != nil {
		all = append(all, *b.piece)
	}
	b.events, b.live, b.house, b.piece, b.rest = nil, nil, nil, nil, nil
	b.room.Broadcast()
	return all
}

// close lets nobody wait any more.
func (b *inbox) close() {
	b.mu.Lock()
	b.shut = true
	b.room.Broadcast()
	b.mu.Unlock()
}
