package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
)

// shown returns the times from one to another at which the clocks of a place show what a timetable says,
// looked up minute by minute: a reading that comes twice counts the first time, and one that is skipped at
// the change, but if something is done in every hour, both are as they are.
func shown(table Timetable, from, to time.Time) (all []time.Time) {
	const reading = "2006-01-02 15:04"
	is := func(clock time.Time) bool { // whatever its zone is
		set := table.set
		return set.Minute&(1<<clock.Minute()) != 0 && set.Hour&(1<<clock.Hour()) != 0 &&
			set.Dom&(1<<clock.Day()) != 0 && set.Dow&(1<<clock.Weekday()) != 0 && set.Month&(1<<clock.Month()) != 0
	}
	hourly, seen := table.set.Hour&anything != 0, make(map[string]bool)
	before := from.Add(-4 * time.Hour).In(table.place)
	for at := before.Add(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		does := is(at) && (hourly || !seen[at.Format(reading)])
		seen[at.Format(reading)] = true
		for skipped := naive(before).Add(time.Minute); !hourly && skipped.Before(naive(at)); skipped = skipped.Add(time.Minute) {
			does = does || is(skipped)
		}
		if does && at.After(from) {
			all = append(all, at)
		}
		before = at
	}
	return all
}

// naive returns what the clock shows as a time in Greenwich.
func naive(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// TestReadings: around both changes of the clocks of a place, things are done when its clocks show it.
func TestReadings(t *testing.T) {
	changes := map[string][]string{
		"Europe/Berlin": {"2026-03-29", "2026-10-25"}, "America/New_York": {"2026-03-08", "2026-11-01"},
		"Australia/Lord_Howe": {"2026-04-05", "2026-10-04"}, "Africa/Cairo": {"2026-04-24", "2026-10-29"}, "Asia/Tokyo": {"2026-03-29", "2026-10-25"},
	}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
		zone := pick("zone", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Tokyo")
		day, err := time.Parse("2006-01-02", pick("day", changes[zone]...))
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTimetable(strings.Join([]string{
			pick("minute", "0", "30", "15,45", "*/20"), pick("hour", "*", "0", "1", "2", "3", "*/2", "1-3", "23"), pick("days", "* * *", "* * 0", "29 * *", "*/2 * *", "* 3-4,10 *"),
		}, " "), zone)
		if err != nil {
			t.Fatal(err)
		}
		from := day.Add(time.Duration(rapid.IntRange(-30*60, 20*60).Draw(t, "from")) * time.Minute)
		to := from.Add(time.Duration(rapid.IntRange(1, 30*60).Draw(t, "long")) * time.Minute)
		var got []time.Time
		for at := range table.After(from) {
			if at.After(to) {
				break
			}
			got = append(got, at)
		}
		if want := shown(table, from, to); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("from %v it is done at %v, want %v", from, got, want)
		}
	})
}

// TestClockIsSet: whatever is done to the clock, for whatever is missed, what happens is what a person
// would expect who reads the documentation.
func TestClockIsSet(t *testing.T) {
	moves := []time.Duration{
		time.Minute, 20 * time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour, // on, asleep, or set forward
		-time.Hour, -24 * time.Hour, -25 * time.Hour, -365 * 24 * time.Hour, // set back
	}
	rapid.Check(t, func(t *rapid.T) {
		e := &Entry{Event: earshot.Event{ID: "s"}, Cursor: noon}
		e.Spec = rapid.SampledFrom([]string{"0 * * * *", "30 7 * * *"}).Draw(t, "spec")
		e.Missed = rapid.SampledFrom([]string{MissedSkip, MissedOnce, MissedAll}).Draw(t, "missed")
		e.Overlap = rapid.SampledFrom([]string{OverlapSkip, OverlapQueue}).Draw(t, "overlap")
		table, err := NewTimetable(e.Spec, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		var m RunState
		now := noon
		var back time.Time // since when the clock shows a time long before what was dealt with
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			now = now.Add(rapid.SampledFrom(moves).Draw(t, "by"))
			open := rapid.Bool().Draw(t, "open")
			dealt := e.Cursor
			switch {
			case dealt.Sub(now) <= setBack:
				back = time.Time{}
			case back.IsZero() || back.Sub(now) > setBack:
				back = now
				fallthrough
			default: // it was wrong before
				dealt = back
			}
			var due []time.Time
			for at := dealt.Truncate(time.Hour).Add(30 * time.Minute); !at.After(now); at = at.Add(30 * time.Minute) {
				if at.After(dealt) && table.set.Hour&(1<<at.Hour()) != 0 && table.set.Minute&(1<<at.Minute()) != 0 {
					due = append(due, at)
				}
			}
			var want []string
			does := func(act earshot.Act, at time.Time) {
				want = append(want, string(act)+at.Format(" 2 15:04"))
			}
			n := len(due)
			late := n > 0 && now.Sub(due[n-1]) > punctual
			switch {
			case n == 0:
			case open && (e.Overlap == OverlapQueue || e.Missed == MissedAll): // it waits
				continueWaiting(t, e, &m, now)
				continue
			case open:
				does(earshot.ScheduleSkipped, due[n-1])
			case e.Missed == MissedAll:
				if n > mostMissed {
					does(earshot.ScheduleSkipped, due[n-mostMissed-1])
				}
				for _, at := range due[max(0, n-mostMissed):] {
					does(earshot.ScheduleRan, at)
				}
			case e.Missed == MissedSkip && late && !m.waits:
				does(earshot.ScheduleSkipped, due[n-1])
			default:
				does(earshot.ScheduleRan, due[n-1])
			}
			if got := follow(t, e, &m, open, now); !slices.Equal(got, want) {
				t.Fatalf("at %v it did %q, want %q", now, got, want)
			}
		}
	})
}

// continueWaiting checks that nothing is done.
func continueWaiting(t *rapid.T, e *Entry, m *RunState, now time.Time) {
	if got := follow(t, e, m, true, now); len(got) > 0 {
		t.Fatalf("at %v it did %q, and the run before is not over", now, got)
	}
}
