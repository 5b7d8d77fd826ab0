package gateway

import (
	"slices"

	"github.com/bwmarrin/discordgo"
)

const (
	// mostEvents is how many events wait for a slow receiver: some minutes of a busy
	// guild.
	mostEvents = 4096
	// mostBytes bounds the same in bytes of JSON: a large guild has some megabytes.
	mostBytes = 64 << 20
)

// A kind says what the loss of an event means.
type kind int

const (
	minor   kind = iota // typing: nothing
	message             // messages and commands: reported
	state               // who is where, and what exists: reported, and requested again
)

// kindOf returns the kind of an event.
func kindOf(event any) kind {
	switch event.(type) {
	case *discordgo.TypingStart:
		return minor
	case *discordgo.MessageCreate, *discordgo.MessageUpdate, *discordgo.MessageDelete, *discordgo.MessageDeleteBulk,
		*discordgo.InteractionCreate:
		return message
	}
	return state
}

// A waiting event is one in the queue.
type waiting struct {
	event any
	kind  kind
	size  int // bytes of JSON
}

// A queue holds events for a slow receiver. It has no goroutine and no lock.
type queue struct {
	events []waiting
	kinds  [state + 1]int // how many wait of each kind
	bytes  int
	lost   Lost // since the receiver was told

	most, room int // events and bytes; see mostEvents and mostBytes
}

func newQueue() *queue { return &queue{most: mostEvents, room: mostBytes} }

// put adds an event, and drops others if there is no room: typing first, then the oldest. It reports whether a state is among the dropped ones. A single event is accepted
// whatever its size.
func (q *queue) put(w waiting) (stale bool) {
	q.events = append(q.events, w)
	q.kinds[w.kind]++
	q.bytes += w.size
	for len(q.events) > q.most || len(q.events) > 1 && q.bytes > q.room {
		stale = q.drop() == state || stale
	}
	return stale
}

// drop drops the first of the least valuable kind.
func (q *queue) drop() kind {
	i := 0
	if q.kinds[minor] > 0 {
		i = slices.IndexFunc(q.events, func(w waiting) bool { return w.kind == minor })
	}
	k := q.events[i].kind
	q.remove(i)
	switch k {
	case minor:
		q.lost.Minor++
	case message:
		q.lost.Messages++
	case state:
		q.lost.States++
	}
	return k
}

func (q *queue) remove(i int) {
	w := q.events[i]
	q.kinds[w.kind]--
	q.bytes -= w.size
	if i > 0 {
		q.events = slices.Delete(q.events, i, i+1)
		return
	}
	q.events[0] = waiting{} // append moves the rest to the front when it is out of room
	q.events = q.events[1:]
}

// get returns the next event, or first what was lost before it; false if none waits.
func (q *queue) get() (event any, ok bool) {
	if q.lost.Messages+q.lost.States > 0 {
		lost := q.lost
		q.lost = Lost{}
		return &lost, true
	}
	if len(q.events) == 0 {
		return nil, false
	}
	event = q.events[0].event
	q.remove(0)
	return event, true
}
