package admission

import (
	"slices"

	"earshot"
	"earshot/executive/record"
)

// maxEntries is how many entries are remembered: a sender without an answer tries again within
// seconds. maxBytes bounds their texts, besides what waits for the journal.
const (
	maxEntries = 1024
	maxBytes   = 4 << 20
)

// A recentCache holds the entries that a room remembers, by the ID of their event: so an event that
// is sent twice is recognised, and one that is quoted, answered or changed is found. The zero value
// is empty. It is not safe for concurrent use.
type recentCache struct {
	byID  map[earshot.EventID]*Entry
	order []sized // oldest first
	bytes int     // of their texts, as they came
}

type sized struct {
	id    earshot.EventID
	bytes int
}

// Get returns the entry of an event, if it is remembered.
func (r *recentCache) Get(id earshot.EventID) (en *Entry, ok bool) {
	en, ok = r.byID[id]
	return en, ok
}

// Reply returns the reply of a turn, if it is remembered.
func (r *recentCache) Reply(turn earshot.TurnID) (e earshot.Event) {
	for _, en := range r.byID {
		if reply, ok := en.Event.Body.(earshot.Reply); ok && reply.Turn == turn {
			return en.Event
		}
	}
	return e
}

// Add remembers an entry, and forgets the oldest that do not wait for the journal.
func (r *recentCache) Add(en *Entry) {
	r.Remove(en.Event.ID)
	if r.byID == nil {
		r.byID = make(map[earshot.EventID]*Entry)
	}
	s := sized{en.Event.ID, len(record.TextOf(en.Event))}
	r.byID[s.id], r.order, r.bytes = en, append(r.order, s), r.bytes+s.bytes
	for len(r.order) > maxEntries || r.bytes > maxBytes {
		oldest := r.order[0]
		if !r.byID[oldest.id].Over() {
			return
		}
		r.bytes -= oldest.bytes
		delete(r.byID, oldest.id)
		r.order = r.order[1:]
	}
}

// Update replaces the entries of the events that change by new ones, because somebody may still be
// reading the old ones.
func (r *recentCache) Update(change func(earshot.Event) (now earshot.Event, changed bool)) {
	for id, en := range r.byID {
		if now, changed := change(en.Event); changed {
			r.byID[id] = &Entry{Input: Input{Event: now}, done: en.done, err: en.err}
		}
	}
}

// Remove forgets the entry of an event.
func (r *recentCache) Remove(id earshot.EventID) {
	if _, ok := r.byID[id]; !ok {
		return
	}
	delete(r.byID, id)
	i := slices.IndexFunc(r.order, func(s sized) bool { return s.id == id })
	r.bytes -= r.order[i].bytes
	r.order = slices.Delete(r.order, i, i+1)
}
