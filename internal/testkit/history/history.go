// Package history checks what clients of several daemons saw: that no event was lost, doubled or out
// of order in its room, that one voice at a time was heard there, and that every question was answered
// once, or told that it was not.
//
// A history is made of records, each written by whoever saw it happen, on one machine with one clock.
// What was sent and neither acknowledged nor refused may have happened or not.
package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The kinds of records. Those of an append, a voice or a question have its ID.
const (
	Sent         = "sent"         // an event, to be appended
	Acknowledged = "acknowledged" // it was appended
	Refused      = "refused"      // it was not
	Read         = "read"         // at the end, from the journal, in its order
	Begun        = "begun"        // a voice is let out
	Ended        = "ended"        // it is silent
	Asked        = "asked"        // a question
	Answered     = "answered"     // with an answer
	Told         = "told"         // that there will be none
)

// A Record is something that somebody saw.
type Record struct {
	Kind   string        `json:"kind"`
	At     time.Duration `json:"at"` // by the clock of the machine, since anything
	Room   string        `json:"room"`
	ID     string        `json:"id"`
	Outlet string        `json:"outlet,omitempty"` // of a voice, if there are several
	Owner  string        `json:"owner,omitempty"`  // who did it in the room
	Fence  int64         `json:"fence,omitempty"`  // with what lease; 0 if without
}

// A Fault is what must not be in a history.
type Fault struct {
	Kind     string // of those below
	Room, ID string
}

// The kinds of faults.
const (
	Lost          = "acknowledged and lost"
	Doubled       = "doubled"
	Disordered    = "before what had been acknowledged before it was sent"
	Invented      = "there although it was refused or never sent"
	Stale         = "after what has a higher fence"
	TwoOwners     = "with the fence of another owner"
	TwoVoices     = "while another voice is heard"
	AnsweredTwice = "answered twice"
	Unanswered    = "neither answered nor told"
)

// String says what is wrong, and with what.
func (f Fault) String() string { return fmt.Sprintf("%s in %s: %s", f.ID, f.Room, f.Kind) }

// Check returns what is wrong in a history, by rooms. The records may come in any order, but those from
// the journal in its own.
func Check(records []Record) (faults []Fault) {
	rooms := make(map[string]map[string][]Record) // by room and kind
	for _, r := range records {
		if rooms[r.Room] == nil {
			rooms[r.Room] = make(map[string][]Record)
		}
		rooms[r.Room][r.Kind] = append(rooms[r.Room][r.Kind], r)
	}
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		c := checker{room: name, of: rooms[name], owner: make(map[int64]string)}
		c.journal()
		c.voices()
		c.questions()
		faults = append(faults, c.faults...)
	}
	return faults
}

// A checker checks a room.
type checker struct {
	room   string
	of     map[string][]Record // by kind
	owner  map[int64]string    // of each fence
	faults []Fault
}

func (c *checker) fault(kind, id string) { c.faults = append(c.faults, Fault{kind, c.room, id}) }

// byID returns the records of a kind by their IDs, of each the earliest.
func (c *checker) byID(kind string) map[string]Record {
	all := make(map[string]Record)
	for _, r := range c.of[kind] {
		if first, is := all[r.ID]; !is || r.At < first.At {
			all[r.ID] = r
		}
	}
	return all
}

// fenced checks that fences only grow, and that each is one owner's.
func (c *checker) fenced(rs []Record) {
	highest := int64(0)
	for _, r := range rs {
		if r.Fence < highest {
			c.fault(Stale, r.ID)
		}
		highest = max(highest, r.Fence)
		if owner, is := c.owner[r.Fence]; is && owner != r.Owner {
			c.fault(TwoOwners, r.ID)
		}
		c.owner[r.Fence] = r.Owner
	}
}

// journal checks what was appended. An event must stand before all that were sent after it had been
// acknowledged: whatever stands before it was therefore sent before that.
func (c *checker) journal() {
	sent, acknowledged, refused, read := c.byID(Sent), c.byID(Acknowledged), c.byID(Refused), make(map[string]bool)
	c.fenced(c.of[Read])
	latest := time.Duration(0) // when what stands before was sent
	for _, r := range c.of[Read] {
		s, is := sent[r.ID]
		_, no := refused[r.ID]
		if !is || no {
			c.fault(Invented, r.ID)
		}
		if read[r.ID] {
			c.fault(Doubled, r.ID)
			continue
		}
		if a, is := acknowledged[r.ID]; is && a.At < latest {
			c.fault(Disordered, r.ID)
		}
		read[r.ID], latest = true, max(latest, s.At)
	}
	for _, a := range c.of[Acknowledged] {
		if !read[a.ID] {
			c.fault(Lost, a.ID)
		}
	}
}

// voices checks what was heard, at whatever outlet. The same voice may be heard at several, but there is one
// at a time. A voice whose end nobody saw is heard for ever.
func (c *checker) voices() {
	type key struct{ id, outlet string }
	ended, end := make(map[key]time.Duration), make(map[string]time.Duration) // of each voice that has begun
	for _, e := range c.of[Ended] {
		k := key{e.ID, e.Outlet}
		if first, is := ended[k]; !is || e.At < first {
			ended[k] = e.At
		}
	}
	begun := slices.SortedStableFunc(slices.Values(c.of[Begun]), func(a, b Record) int { return cmp.Compare(a.At, b.At) })
	c.fenced(begun)
	for _, v := range begun {
		for id, until := range end {
			if id != v.ID && v.At < until {
				c.fault(TwoVoices, v.ID)
				break
			}
		}
		until, is := ended[key{v.ID, v.Outlet}]
		if !is {
			until = 1<<63 - 1
		}
		end[v.ID] = max(end[v.ID], until)
	}
}

// questions checks what was asked.
func (c *checker) questions() {
	asked, answers, told := c.byID(Asked), make(map[string]int), c.byID(Told)
	for _, a := range c.of[Answered] {
		if answers[a.ID]++; answers[a.ID] == 2 {
			c.fault(AnsweredTwice, a.ID)
		}
		if _, is := asked[a.ID]; !is {
			c.fault(Invented, a.ID)
		}
	}
	for _, q := range c.of[Asked] {
		if _, is := told[q.ID]; answers[q.ID] == 0 && !is {
			c.fault(Unanswered, q.ID)
		}
	}
}
