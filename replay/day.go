package replay

import (
	"fmt"
	"slices"
	"time"

	"earshot"
)

const (
	// mostDay is how many events of a day are performed: more than a lively house has in a
	// week, in some hundred megabytes.
	mostDay = 200_000

	// goesOn is how many of the newest events of each kind a room goes on from, and
	// changes how many of what makes up the house.
	goesOn  = 512
	changes = 20_000
)

// A Day is what is on record of a stretch of time, and what it went on from. The zero
// value is not ready; see [Between].
type Day struct {
	Past   []earshot.Event // in order
	Events []earshot.Event // in order

	from, to time.Time
	room     earshot.RoomID
	past     map[earshot.RoomID]map[earshot.Kind][]earshot.Event
	begun    bool
	over     bool
}

// Between returns a day without events, to which those of a journal are added in order:
// from one time to before another, of a room, or of all if that is empty.
func Between(from, to time.Time, room earshot.RoomID) *Day {
	return &Day{from: from, to: to, room: room, past: make(map[earshot.RoomID]map[earshot.Kind][]earshot.Event)}
}

// Add takes in the event that comes next in the journal. It reports whether more are
// wanted.
func (d *Day) Add(e earshot.Event) (more bool, err error) {
	makesUp := e.Body.Kind() == earshot.KindActor || e.Body.Kind() == earshot.KindAgent
	d.begun = d.begun || !e.At.Before(d.from)
	d.over = d.over || !e.At.Before(d.to)
	switch {
	case d.over:
		d.Close()
		return false, nil
	case d.room != "" && e.Room != d.room && !makesUp:
	case !d.begun:
		d.remember(e, makesUp)
	case len(d.Events) >= mostDay:
		return false, fmt.Errorf("there are more than %d events on record of that time; choose less of it, or one room", mostDay)
	default:
		d.Events = append(d.Events, e)
	}
	return true, nil
}

// remember keeps of the past what a room goes on from.
func (d *Day) remember(e earshot.Event, makesUp bool) {
	kinds := d.past[e.Room]
	if kinds == nil {
		kinds = make(map[earshot.Kind][]earshot.Event)
		d.past[e.Room] = kinds
	}
	most := goesOn
	if makesUp || e.Body.Kind() == earshot.KindReminder {
		most = changes
	}
	list := append(kinds[e.Body.Kind()], e)
	if len(list) >= 2*most {
		list = slices.Clone(list[len(list)-most:])
	}
	kinds[e.Body.Kind()] = list
}

// Close says that no event comes any more, and puts the past in order. It may be called again.
func (d *Day) Close() {
	for _, kinds := range d.past {
		for kind, list := range kinds {
			if kind != earshot.KindActor && kind != earshot.KindAgent && kind != earshot.KindReminder {
				list = list[max(0, len(list)-goesOn):]
			}
			d.Past = append(d.Past, list...)
		}
	}
	slices.SortFunc(d.Past, func(a, b earshot.Event) int { return int(a.Sequence - b.Sequence) })
	d.past = nil
}

// Empty reports whether nothing happened in any room.
func (d *Day) Empty() bool {
	return !slices.ContainsFunc(d.Events, func(e earshot.Event) bool { return !houseWide(e.Body.Kind()) })
}
