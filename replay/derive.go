package replay

import (
	"cmp"
	"slices"
	"time"

	"earshot"
	"earshot/executive/attention"
)

// looks is how often a camera is taken to have looked between two things that it noticed:
// often enough that it is known to look.
const looks = 2 * time.Second

// derive adds to a plan what is kept nowhere and can be told from what is: that a camera
// looked, and saw what it had noticed last; that somebody typed for whom the agent waited.
// It has no sequence.
func derive(plan []step) []step {
	all := append(glances(plan), types(plan)...)
	if len(all) == 0 {
		return plan
	}
	slices.SortStableFunc(all, func(a, b derived) int { return cmp.Compare(a.before, b.before) })
	full := make([]step, 0, len(plan)+len(all))
	for i, s := range plan {
		for len(all) > 0 && all[0].before == i {
			full = append(full, all[0].step)
			all = all[1:]
		}
		full = append(full, s)
	}
	return full
}

// A derived step comes before another of the plan.
type derived struct {
	step
	before int
}

// A cameraTrack is a camera of a room, and what it sees.
type cameraTrack struct {
	room   earshot.RoomID
	from   earshot.Handle
	people int
	eyes   earshot.Eyesight
	next   time.Time
}

// glances are the looks of all cameras of a day.
func glances(plan []step) (all []derived) {
	var lenses []*cameraTrack
	find := func(e earshot.Event) *cameraTrack {
		i := slices.IndexFunc(lenses, func(l *cameraTrack) bool { return l.room == e.Room && l.from == e.From })
		if i < 0 {
			return nil
		}
		return lenses[i]
	}
	for _, s := range plan { // what each saw first
		if b, ok := s.event.Body.(earshot.Sight); ok && b.What != earshot.Captioned && find(s.event) == nil {
			lenses = append(lenses, &cameraTrack{room: s.event.Room, from: s.event.From, people: b.Were, eyes: earshot.Clear, next: plan[0].at})
		}
	}
	for i, s := range plan {
		for _, l := range lenses {
			for ; l.next.Before(s.at); l.next = l.next.Add(looks) {
				if l.eyes != earshot.Away {
					g := earshot.Glance{Camera: l.from.ID, People: l.people, Sure: 1, Eyes: l.eyes, Brightness: 0.5}
					all = append(all, derived{step{l.next, earshot.Event{At: l.next, Room: l.room, From: l.from, Body: g}}, i})
				}
			}
		}
		if b, ok := s.event.Body.(earshot.Sight); ok && b.What != earshot.Captioned {
			l := find(s.event)
			l.people, l.eyes, l.next = b.People, b.Eyes, later(l.next, s.at.Add(time.Millisecond))
		}
	}
	slices.SortStableFunc(all, func(a, b derived) int { return a.at.Compare(b.at) })
	return all
}

// types are that somebody typed for whom the agent waited, until it did no longer.
func types(plan []step) (all []derived) {
	at := make(map[earshot.EventID]int)
	by := make(map[earshot.RoomID]earshot.Event) // who has a keyboard
	open := make(map[earshot.EventID]bool)
	for i, s := range plan {
		e := s.event
		at[e.ID] = i
		if e.From.Provider == "console" && e.Author != "" {
			by[e.Room] = e
		}
		d, ok := e.Body.(earshot.Decision)
		if !ok {
			continue
		}
		key := func(is earshot.Typing, before int) {
			who := by[e.Room]
			all = append(all, derived{step{plan[before].at, earshot.Event{At: plan[before].at, Room: e.Room, From: who.From, Via: who.Via, Author: who.Author, Body: is}}, before})
		}
		waits := slices.Contains(d.Reasons, attention.SomebodyType) && by[e.Room].Author != ""
		switch about, known := at[d.About]; {
		case waits && !open[d.About]:
			if !known {
				about = i
			}
			key(earshot.Typing{Began: true}, about)
		case open[d.About] && !waits:
			key(earshot.Typing{}, i)
		}
		open[d.About] = waits
	}
	return all
}
