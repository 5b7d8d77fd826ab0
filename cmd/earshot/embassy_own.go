package main

import (
	"context"
	"slices"
	"sync"

	"earshot"
	gateway "earshot/internal/discord"
)

// eventOf returns the event that a message is: of a part of a reply that was posted
// since earshot runs, that reply.
func (e *embassy) eventOf(channel, message uint64) earshot.EventID {
	if said, ok := e.own.get(message); ok {
		found, err := e.store.Lately(context.Background(), said.room, earshot.KindReply, lately, e.anybody(said.room)...)
		if err != nil {
			e.log.Warn("a reply cannot be found", "err", err)
		}
		for _, ev := range slices.Backward(found) {
			if r, ok := ev.Body.(earshot.Reply); ok && r.Turn == said.turn {
				return ev.ID
			}
		}
	}
	return gateway.EventOf(channel, message)
}

// mostOwn is how many of its own messages are remembered: what people still answer.
const mostOwn = 4096

// A saying is in which turn something was said, and where.
type saying struct {
	room earshot.RoomID
	turn earshot.TurnID
}

// An echo remembers of messages that were posted which turn they are part of. It may be
// used from many goroutines.
type echo struct {
	mu    sync.Mutex
	turns map[uint64]saying
	order []uint64 // the oldest first
}

func (o *echo) add(message uint64, s saying) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = make(map[uint64]saying)
	}
	if len(o.order) == mostOwn {
		delete(o.turns, o.order[0])
		o.order = slices.Delete(o.order, 0, 1)
	}
	o.turns[message], o.order = s, append(o.order, message)
}

func (o *echo) get(message uint64) (saying, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.turns[message]
	return s, ok
}
