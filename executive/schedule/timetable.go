package schedule

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
)

// A Timetable is when something is done, by the clocks of a place.
//
// On the day on which they are put forward, a time that they skip is done at the change. On the day on
// which they are put back, a time that they show twice is done the first time only. What is done in every
// hour is done by the hours that pass instead: in both of two, and not in one that is skipped.
type Timetable struct {
	set   *cron.SpecSchedule
	place *time.Location
}

const (
	// farthest is how many days ahead a time is looked for: from one 29 February to the next are up to
	// eight years.
	farthest = 8*366 + 2

	anything = 1 << 63 // the bit of a field of cron that says "*"
)

var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// NewTimetable returns the timetable of the five fields of cron, in a zone of the IANA database. "Local"
// is the zone of the machine.
func NewTimetable(spec, zone string) (Timetable, error) {
	place, err := time.LoadLocation(zone)
	if err != nil {
		return Timetable{}, fmt.Errorf("there is no time zone %q here; write one such as Europe/Berlin", zone)
	}
	if len(spec) == 0 || spec[0] < '!' || spec[0] > '9' && spec[0] != '?' { // of its prefixes, the parser knows too little
		return Timetable{}, errors.New("a schedule begins with minutes, from 0 to 59")
	}
	parsed, err := fields.Parse(spec)
	if err != nil {
		return Timetable{}, fmt.Errorf("%q is not cron's syntax; write minute, hour, day of the month, month and day of the week (0 to 6), such as 30 7 * * 1-5", spec)
	}
	t := Timetable{set: parsed.(*cron.SpecSchedule), place: place}
	if t.Next(time.Unix(0, 0)).IsZero() {
		return t, fmt.Errorf("%q is never; choose a day that there is", spec)
	}
	return t, nil
}

// Next returns the first time after another; the zero Time if there is none within years.
func (t Timetable) Next(after time.Time) time.Time {
	for at := range t.After(after) {
		return at
	}
	return time.Time{}
}

// After yields the times after one, as far as the next years.
func (t Timetable) After(after time.Time) iter.Seq[time.Time] {
	year, month, day := after.In(t.place).Date()
	return func(yield func(time.Time) bool) {
		for n := -1; n < farthest; n++ {
			for _, at := range t.on(time.Date(year, month, day+n, 0, 0, 0, 0, time.UTC)) {
				if at.After(after) && !yield(at) {
					return
				}
			}
		}
	}
}

// on returns the times on a date: if both days of the month and of the week are named, on each of them, as
// cron has it.
func (t Timetable) on(date time.Time) (all []time.Time) {
	ofMonth, ofWeek := t.set.Dom&(1<<date.Day()) != 0, t.set.Dow&(1<<date.Weekday()) != 0
	either := (t.set.Dom|t.set.Dow)&anything == 0
	if t.set.Month&(1<<date.Month()) == 0 || !ofMonth && !ofWeek || !either && !(ofMonth && ofWeek) {
		return nil
	}
	noon := time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, t.place)
	_, before := noon.Add(-13 * time.Hour).Zone() // by [time.Date] it would be open which of the two is meant
	_, behind := noon.Add(12 * time.Hour).Zone()
	for hour := range 24 {
		for minute := range 60 {
			if t.set.Hour&(1<<hour) != 0 && t.set.Minute&(1<<minute) != 0 {
				all = append(all, t.showing(date, hour, minute, before, behind)...)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// showing returns when it is done at what the clocks show on a date that begins and ends with offsets from
// Greenwich in seconds.
func (t Timetable) showing(date time.Time, hour, minute, before, behind int) []time.Time {
	written := date.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	first := written.Add(-time.Duration(before) * time.Second).In(t.place)
	if before == behind {
		return []time.Time{first}
	}
	shown := slices.DeleteFunc([]time.Time{first, written.Add(-time.Duration(behind) * time.Second).In(t.place)}, func(at time.Time) bool {
		return at.Hour() != hour || at.Minute() != minute
	})
	switch {
	case t.set.Hour&anything != 0:
		return shown
	case len(shown) > 0:
		return shown[:1]
	}
	change, _ := first.ZoneBounds()
	return []time.Time{change}
}
