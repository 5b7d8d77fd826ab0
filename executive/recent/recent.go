// Package recent remembers the newest events of a room by their IDs: an event that is sent twice is
// recognised, and one that is quoted, answered or changed is found without the journal. What else an
// entry knows of its event, and what waits for it, is the room's business. The package knows no
// journal.
package recent

import (
	"iter"
	"maps"
	"slices"

	"earshot"
)

// maxEntries is how many entries are remembered: a sender without an answer tries again within
// seconds. maxBytes bounds their texts, besides what waits for the journal.
const (
	maxEntries = 1024
	maxBytes   = 4 << 20
)

// An Entry is what a room remembers of an event.
type Entry interface {
	Event() earshot.Event // as it is now
	Over() bool           // it no longer waits for the journal
}

// Entries are the entries that a room remembers, by the ID of their event. The zero value is empty.
// It is not safe for concurrent use.
type Entries[E Entry] struct {
	byID  map[earshot.EventID]sized[E]
	order []earshot.EventID // oldest first
	bytes int               // of their texts, as they came
}

// sized is an entry with the size of its text, as it came.
type sized[E Entry] struct {
	entry E
	bytes int
}

// Get returns the entry of an event, if it is remembered.
func (c *Entries[E]) Get(id earshot.EventID) (en E, ok bool) {
	s, ok := c.byID[id]
	return s.entry, ok
}

// Event returns an event, if it is remembered.
func (c *Entries[E]) Event(id earshot.EventID) (e earshot.Event, ok bool) {
	if en, ok := c.Get(id); ok {
		return en.Event(), true
	}
	return e, false
}

// Reply returns the reply of a turn, if it is remembered.
func (c *Entries[E]) Reply(turn earshot.TurnID) (e earshot.Event, ok bool) {
	for en := range c.All() {
		if reply, is := en.Event().Body.(earshot.Reply); is && reply.Turn == turn {
			return en.Event(), true
		}
	}
	return e, false
}

// All returns all entries, in no order. They may be replaced meanwhile.
func (c *Entries[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for s := range maps.Values(c.byID) {
			if !yield(s.entry) {
				return
			}
		}
	}
}

// Add remembers an entry, and forgets the oldest that do not wait for the journal.
func (c *Entries[E]) Add(en E) {
	e := en.Event()
	c.Remove(e.ID)
	if c.byID == nil {
		c.byID = make(map[earshot.EventID]sized[E])
	}
	n := len(Text(e))
	c.byID[e.ID], c.order, c.bytes = sized[E]{en, n}, append(c.order, e.ID), c.bytes+n
	for len(c.order) > maxEntries || c.bytes > maxBytes {
		oldest := c.byID[c.order[0]]
		if !oldest.entry.Over() {
			return
		}
		c.bytes -= oldest.bytes
		delete(c.byID, c.order[0])
		c.order = c.order[1:]
	}
}

// Replace remembers another entry of the same event, which is as old.
func (c *Entries[E]) Replace(en E) {
	id := en.Event().ID
	c.byID[id] = sized[E]{en, c.byID[id].bytes}
}

// Remove forgets the entry of an event.
func (c *Entries[E]) Remove(id earshot.EventID) {
	s, ok := c.byID[id]
	if !ok {
		return
	}
	c.bytes -= s.bytes
	delete(c.byID, id)
	c.order = slices.DeleteFunc(c.order, func(x earshot.EventID) bool { return x == id })
}

// Text returns what somebody said in an event: a message, an utterance or a reply.
func Text(e earshot.Event) earshot.Text {
	switch body := e.Body.(type) {
	case earshot.Message:
		return body.Whole()
	case earshot.Utterance:
		return body.Text
	case earshot.Reply:
		return body.Delivered()
	}
	return ""
}
