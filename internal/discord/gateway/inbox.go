package gateway

import (
	"context"
	"sync"
)

// An inbox is the queue between the reader of the gateway and the receiver of events.
type inbox struct {
	mu    sync.Mutex
	queue *queue
	more  chan struct{} // there may be an event
	lost  Lost          // in total
	stale bool          // states were lost, and have not been sent again
}

// hand adds an event to the inbox. It does not block.
func (s *Session) hand(w waiting) {
	if s.events == nil {
		return
	}
	b := &s.inbox
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue.put(w) {
		b.stale = true
	}
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// deliver passes events to their receiver until ctx ends.
func (s *Session) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		event, renew, ok := s.inbox.take()
		if renew {
			s.renew()
		}
		if ok {
			if lost, some := event.(*Lost); some {
				s.log.Warn("discord events were dropped", "messages", lost.Messages, "states", lost.States, "minor", lost.Minor)
			}
			s.events(event)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.inbox.more:
		}
	}
}

// take returns the next event, and whether the session must begin anew, so that lost states are
// sent again: once the receiver has caught up, since they would be lost again before.
func (b *inbox) take() (event any, renew, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	event, ok = b.queue.get()
	if lost, some := event.(*Lost); some {
		b.lost.add(*lost)
	}
	return event, b.stale && !ok, ok
}

// renew ends the connection, if there is one, so that a new session begins.
func (s *Session) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.stop(&ended{cause: stale})
	}
}

// fresh says that the session is open again; if it began anew, all states come again.
func (b *inbox) fresh(anew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = b.stale && !anew
	b.wake()
}

// lostInTotal returns how many events were lost so far.
func (b *inbox) lostInTotal() Lost {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.lost
	lost.add(b.queue.lost)
	return lost
}
