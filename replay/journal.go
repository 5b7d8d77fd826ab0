package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"earshot"
	"earshot/executive/revision"
)

// A journal keeps what happens now, in memory, behind what a day went on from. It finds
// out what on record each event is.
type journal struct {
	house *simulation

	mu     sync.Mutex
	events []earshot.Event
	at     map[earshot.EventID]int
	last   int64
	known  map[string][]earshot.Event // what the house did on record, by what it is about, in order
}

func newJournal(h *simulation, d *Day) *journal {
	j := &journal{house: h, at: make(map[earshot.EventID]int), known: make(map[string][]earshot.Event)}
	for _, e := range d.Past {
		j.put(e)
		j.last = max(j.last, e.Sequence)
	}
	j.last = max(j.last, d.Events[0].Sequence-1)
	for _, e := range d.Events {
		if k := h.about(e, false); k != "" {
			j.known[k] = append(j.known[k], e)
		}
	}
	return j
}

func (j *journal) put(e earshot.Event) {
	j.at[e.ID] = len(j.events)
	j.events = append(j.events, e)
}

// about returns what makes an event of the house the same then and now; empty if that is
// nothing, since it came from outside. Now says that its names are those of now.
func (h *simulation) about(e earshot.Event, now bool) string {
	is := func(id string) string {
		if now {
			return h.names.recorded(id)
		}
		return id
	}
	k := fmt.Sprintf("%s|%s|%s|", e.Body.Kind(), e.Room, e.Author)
	switch b := e.Body.(type) {
	case earshot.Decision:
		return k + is(string(b.About))
	case earshot.Reply:
		return k + is(string(b.Turn))
	case earshot.Message:
		if b.Turn == "" {
			return ""
		}
		return k + is(string(b.Turn)) + fmt.Sprint(e.To)
	case earshot.Use:
		return k + is(string(b.Turn)) + b.Tool
	case earshot.Thought:
		return k + is(string(b.Of)) + string(b.Cause) + is(string(b.About)) + string(b.Outcome)
	case earshot.Finding:
		return k + is(string(b.Thought))
	case earshot.Reminder:
		return k + string(b.Act) + is(string(b.Of)) + string(b.Text)
	case earshot.Memo:
		return k + string(b.Text)
	case earshot.Edit:
		return k + string(b.Act) + b.Field + is(b.Item) + string(b.Text)
	case earshot.Snooze, earshot.ModeChange, earshot.Presence:
		return k
	}
	return ""
}

// match finds out what e is on record, if it is.
func (j *journal) match(e earshot.Event) {
	h := j.house
	k := h.about(e, true)
	list := j.known[k]
	if k == "" || len(list) == 0 {
		return
	}
	if i := slices.IndexFunc(list, func(r earshot.Event) bool { return r.ID == e.ID }); i >= 0 { // it was brought in
		j.known[k] = slices.Delete(list, i, i+1)
		return
	}
	r := list[0]
	j.known[k] = list[1:]
	if h.names.recorded(string(e.ID)) == string(e.ID) {
		h.names.match(string(e.ID), string(r.ID))
	}
	if d, ok := e.Body.(earshot.Decision); ok {
		h.names.match(string(d.Turn), string(r.Body.(earshot.Decision).Turn))
	}
}

var errNothing = errors.New("it is about something that is not there")

// Append implements [room.Journal].
func (j *journal) Append(_ context.Context, events ...earshot.Event) (kept []earshot.Event, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range events {
		switch b := e.Body.(type) {
		case earshot.Revision:
			if i, ok := j.at[b.Of]; !ok || !j.changeable(i, e.Room) {
				return nil, errNothing
			}
		case earshot.Withdrawal:
			if i, ok := j.at[b.Of]; !ok || j.events[i].Room != e.Room {
				return nil, errNothing
			}
		}
	}
	for _, e := range events {
		kept = append(kept, j.keep(e))
	}
	return kept, nil
}

// changeable reports whether an event is a message of a room, or was one.
func (j *journal) changeable(i int, in earshot.RoomID) bool {
	switch b := j.events[i].Body.(type) {
	case earshot.Message:
		return j.events[i].Room == in
	case earshot.Tombstone:
		return j.events[i].Room == in && b.Was == earshot.KindMessage
	}
	return false
}

// keep keeps one event.
func (j *journal) keep(e earshot.Event) earshot.Event {
	if i, known := j.at[e.ID]; known {
		return j.events[i]
	}
	j.match(e)
	j.last++
	e.Sequence = j.last
	switch b := e.Body.(type) {
	case earshot.Revision:
		e.Sources = append(slices.Clip(e.Sources), b.Of)
		i := j.at[b.Of]
		j.events[i], _ = revision.Reword(j.events[i], e) // unless it was taken back
	case earshot.Withdrawal:
		e.Body = j.withdraw(b)
	}
	if slices.ContainsFunc(e.Sources, j.gone) {
		e = erased(e)
	}
	j.put(e)
	return e
}

// gone reports whether something was erased.
func (j *journal) gone(id earshot.EventID) bool {
	i, known := j.at[id]
	return known && j.events[i].Body.Kind() == earshot.KindErased
}

func erased(e earshot.Event) earshot.Event {
	return earshot.Event{ID: e.ID, Sequence: e.Sequence, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
}

// withdraw erases a message and all that was derived from it.
func (j *journal) withdraw(b earshot.Withdrawal) earshot.Withdrawal {
	from := j.at[b.Of]
	j.events[from] = erased(j.events[from])
	for i := from + 1; i < len(j.events); i++ { // what is derived comes later
		if e := j.events[i]; e.Body.Kind() != earshot.KindErased && slices.ContainsFunc(e.Sources, j.gone) {
			j.events[i] = erased(e)
			b.With = append(b.With, e.ID)
		}
	}
	return b
}

// find returns an event of a room.
func (j *journal) find(in earshot.RoomID, id earshot.EventID) (earshot.Event, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, known := j.at[id]
	if !known || j.events[i].Room != in {
		return earshot.Event{}, false
	}
	return j.events[i], true
}

// recalled is how much of each an agent goes on from that wakes.
const recalled = 256

// recall returns what an agent goes on from in a room.
func (j *journal) recall(in earshot.RoomID, agent earshot.ParticipantID) (all []earshot.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	who, left := earshot.Audience{Room: in}.With(agent), map[string]int{"said": recalled, "heard": recalled, "whose": recalled}
	of := map[earshot.Kind]string{
		earshot.KindMessage: "said", earshot.KindReply: "said", earshot.KindPresence: "said", earshot.KindUtterance: "heard", earshot.KindWhose: "whose",
	}
	for _, e := range slices.Backward(j.events) {
		what := of[e.Body.Kind()]
		if what != "" && left[what] > 0 && e.Room == in && e.Visibility.Allows(who) {
			left[what]--
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all
}

// decisions returns what was decided, in order, also about what was erased since.
func (j *journal) decisions() (all []earshot.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Body.Kind() == earshot.KindDecision {
			all = append(all, e)
		}
	}
	return all
}

// has reports whether what a revision or a withdrawal is about is there.
func (j *journal) has(b earshot.Body) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	var of earshot.EventID
	switch b := b.(type) {
	case earshot.Revision:
		of = b.Of
	case earshot.Withdrawal:
		of = b.Of
	}
	_, known := j.at[of]
	return known
}
