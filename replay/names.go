package replay

import (
	"slices"
	"sync"

	"earshot"
)

// Names tell what things are called now, and on record. What came from outside is called
// the same.
type names struct {
	mu   sync.Mutex
	then map[string]string // by what they are called now
	now  map[string]string // by what they are called on record
}

// match notes that something is on record by another name.
func (n *names) match(now, then string) {
	if now == "" || then == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.then[now], n.now[then] = then, now
}

// recorded returns what something is called on record that is called so now.
func (n *names) recorded(now string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if then, ok := n.then[now]; ok {
		return then
	}
	return now
}

// current returns what something is called now that is called so on record.
func (n *names) current(then string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now, ok := n.now[then]; ok {
		return now
	}
	return then
}

// event returns the name of an event as it is now.
func (n *names) event(then earshot.EventID) earshot.EventID {
	return earshot.EventID(n.current(string(then)))
}

// brought returns e, which is on record, with the names that things have now.
func (n *names) brought(e earshot.Event) earshot.Event {
	e.Sequence, e.Sources = 0, slices.Clone(e.Sources)
	for i, id := range e.Sources {
		e.Sources[i] = n.event(id)
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		b.ReplyTo = n.event(b.ReplyTo)
		e.Body = b
	case earshot.Revision:
		b.Of = n.event(b.Of)
		e.Body = b
	case earshot.Withdrawal:
		e.Body = earshot.Withdrawal{Of: n.event(b.Of)}
	case earshot.Edit:
		b.Item, b.Undoes = n.current(b.Item), n.event(b.Undoes)
		e.Body = b
	case earshot.Reminder:
		b.Of = n.event(b.Of)
		e.Body = b
	case earshot.Attribution:
		b.Of = n.event(b.Of)
		e.Body = b
	}
	return e
}

// decided returns a decision of now with the names that things have on record.
func (n *names) decided(e earshot.Event) earshot.Event {
	e.ID = earshot.EventID(n.recorded(string(e.ID)))
	e.Sources = slices.Clone(e.Sources)
	for i, id := range e.Sources {
		e.Sources[i] = earshot.EventID(n.recorded(string(id)))
	}
	if d, ok := e.Body.(earshot.Decision); ok {
		d.About, d.Turn = earshot.EventID(n.recorded(string(d.About))), earshot.TurnID(n.recorded(string(d.Turn)))
		e.Body = d
	}
	return e
}
