package monitor

import (
	"sync"

	"earshot"
	"earshot/api"
	"earshot/monitor/model"
)

// mostWaiting is how many events may wait for the screen. Beyond that, the sender waits. At the
// start, a journal delivers thousands of events a second, and the screen shows none of them.
const mostWaiting = 2048

// An inbox holds what has arrived until it is shown. Of what is only of interest at the moment, it
// holds only the newest. The zero value is not usable; see newInbox.
type inbox struct {
	wake chan struct{} // holds one if the inbox is not empty

	mu     sync.Mutex
	room   *sync.Cond
	events []earshot.Event
	live   *api.Snapshot
	house  *api.Status
	piece  *model.Piece
	rest   []any // the rare messages
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

// put adds anything else. It never waits.
func (b *inbox) put(what any) {
	b.mu.Lock()
	switch w := what.(type) {
	case api.Snapshot:
		b.live = &w
	case api.Status:
		b.house = &w
	case model.Piece:
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

// take returns the contents in the order in which they must be known: who exists comes before what
// they did.
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
		all = append(all, model.Events(b.events))
	}
	if b.piece != nil {
		all = append(all, *b.piece)
	}
	b.events, b.live, b.house, b.piece, b.rest = nil, nil, nil, nil, nil
	b.room.Broadcast()
	return all
}

// close releases everybody who waits.
func (b *inbox) close() {
	b.mu.Lock()
	b.shut = true
	b.room.Broadcast()
	b.mu.Unlock()
}
