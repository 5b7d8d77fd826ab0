package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"earshot"
)

// near is by how much the time of a decision may differ and it is the same: what was
// recorded on a real clock took a moment that it does not take on one that stands still
// meanwhile.
const near = 2 * time.Second

// compare compares what was decided now with what is on record.
func (h *simulation) compare(d *Day, now []earshot.Event) *Result {
	res := &Result{Events: len(d.Events), Erased: h.erased, Revised: h.revised, Refused: int(h.refused.Load()), Differences: []Difference{}}
	on := make(map[earshot.EventID]int) // on record, in order
	var then []earshot.Event
	for _, e := range d.Events {
		if e.Body.Kind() == earshot.KindDecision {
			on[e.ID] = len(then)
			then = append(then, e)
		}
	}
	res.Decisions = len(then)
	day := make(map[earshot.EventID]bool) // decisions of before
	for _, e := range d.Past {
		day[e.ID] = true
	}
	met := make([]bool, len(then))
	last := make(map[earshot.RoomID]int) // in each room, the one that came last
	for _, e := range now {
		if day[e.ID] {
			continue
		}
		e = h.names.decided(e)
		i, known := on[e.ID]
		if !known {
			res.Now = append(res.Now, e)
			h.differ(res, Added, nil, &e)
			continue
		}
		met[i] = true
		e = res.timed(then[i], e)
		res.Now = append(res.Now, e)
		was, before := last[e.Room]
		switch {
		case !bytes.Equal(encoded(then[i]), encoded(e)):
			h.differ(res, Other, &then[i], &e)
		case before && i < was:
			h.differ(res, Order, &then[i], &e)
		default:
			res.Same++
		}
		last[e.Room] = max(was, i)
	}
	for i := range then {
		if !met[i] {
			h.differ(res, Missing, &then[i], nil)
		}
	}
	slices.SortStableFunc(res.Differences, func(a, b Difference) int { return a.at().Compare(b.at()) })
	return res
}

// at returns when it was decided, then if it was.
func (d Difference) at() time.Time {
	if d.Then != nil {
		return d.Then.At
	}
	return d.Now.At
}

// timed returns a decision of now with the place and the time that it has on record, if
// it came about then.
func (res *Result) timed(then, now earshot.Event) earshot.Event {
	now.Sequence = then.Sequence
	if off := now.At.Sub(then.At).Abs(); off <= near {
		res.Shift = max(res.Shift, off)
		now.At = then.At
	}
	return now
}

// encoded returns a decision as the journal has it.
func encoded(e earshot.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		return nil // a decision always can be
	}
	return data
}

// differ notes a difference.
func (h *simulation) differ(res *Result, what string, then, now *earshot.Event) {
	e := then
	if e == nil {
		e = now
	}
	b := e.Body.(earshot.Decision)
	by := ""
	if about, ok := h.journal.find(e.Room, h.names.event(b.About)); ok && about.Author != "" {
		by = h.people.Name(about.Author)
	}
	res.Differences = append(res.Differences, Difference{By: by, Name: h.people.Name(b.Agent), About: b.About, Room: e.Room, Agent: b.Agent, What: what, Then: then, Now: now, Revised: h.record.revised[b.About]})
}
