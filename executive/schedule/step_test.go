package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// follow has a schedule of every hour step at some times, until nothing is left to do at each. open says
// when the run before is not over. It returns what was done.
func follow(t interface{ Fatalf(string, ...any) }, e *Entry, m *RunState, open bool, now time.Time) (done []string) {
	table, err := NewTimetable(e.Spec, "UTC")
	if err != nil {
		t.Fatalf("%v", err)
	}
	for range 100 {
		var d Action
		if d, *m = e.Step(table, now, open, *m); d.Act == "" {
			return done
		}
		note := string(d.Act)
		if !d.Due.IsZero() {
			note += " " + d.Due.Format("2 15:04")
		}
		done = append(done, note)
		if d.Act == earshot.Ended {
			return done
		}
		e.Cursor = d.Due
	}
	t.Fatalf("it never comes to rest: %q", done)
	return nil
}

// TestStep: what becomes of runs that are missed, or that are due before the one before is over, and when
// the clock is set.
func TestStep(t *testing.T) {
	type look struct {
		at   string // since noon; "restart" forgets everything
		open bool
	}
	for _, tt := range []struct {
		name string
		is   earshot.Schedule
		when []look
		want string
	}{
		{"in time", earshot.Schedule{}, []look{{"59m59s", false}, {"1h", false}, {"1h1m", false}, {"2h", false}}, "ran 27 13:00, ran 27 14:00"},
		{"a little late", earshot.Schedule{Missed: MissedSkip}, []look{{"1h4m", false}}, "ran 27 13:00"},
		{"asleep for a day: skip", earshot.Schedule{Missed: MissedSkip}, []look{{"24h30m", false}, {"25h", false}}, "skipped 28 12:00, ran 28 13:00"},
		{"asleep for a day, awake in time: skip", earshot.Schedule{Missed: MissedSkip}, []look{{"24h", false}}, "ran 28 12:00"},
		{"asleep for a day: once", earshot.Schedule{Missed: MissedOnce}, []look{{"24h30m", false}, {"25h", false}}, "ran 28 12:00, ran 28 13:00"},
		{"asleep for a while: all", earshot.Schedule{Missed: MissedAll}, []look{{"3h30m", false}}, "ran 27 13:00, ran 27 14:00, ran 27 15:00"},
		{"asleep for long: all", earshot.Schedule{Missed: MissedAll, Spec: "0 12 * * *"}, []look{{"624h30m", true}, {"625h", false}},
			"skipped 29 12:00, ran 30 12:00" + several("ran %d 12:00", 1, 23)},
		{"not over: skip", earshot.Schedule{}, []look{{"1h", true}, {"1h30m", false}, {"2h", false}}, "skipped 27 13:00, ran 27 14:00"},
		{"not over: queue", earshot.Schedule{Overlap: OverlapQueue}, []look{{"1h", true}, {"1h30m", true}, {"1h40m", false}, {"1h41m", false}}, "ran 27 13:00"},
		{"not over: the last waits", earshot.Schedule{Overlap: OverlapQueue, Missed: MissedSkip}, []look{{"1h", true}, {"2h", true}, {"2h40m", false}, {"3h", false}}, "ran 27 14:00, ran 27 15:00"},
		{"a restart while one waits", earshot.Schedule{Overlap: OverlapQueue, Missed: MissedSkip}, []look{{"1h", true}, {"restart", false}, {"1h40m", false}}, "skipped 27 13:00"},
		{"not over: all wait", earshot.Schedule{Missed: MissedAll}, []look{{"1h", true}, {"2h30m", true}, {"2h40m", false}}, "ran 27 13:00, ran 27 14:00"},
		{"set back by an hour", earshot.Schedule{}, []look{{"2h", false}, {"1h", false}, {"2h", false}, {"3h", false}}, "ran 27 14:00, ran 27 15:00"},
		{"set forward and back", earshot.Schedule{}, []look{{"1h", false}, {"240h30m", false}, {"1h30m", false}, {"2h", false}, {"3h", false}}, "ran 27 13:00, ran 7 12:00, ran 27 14:00, ran 27 15:00"},
		{"set back further and further", earshot.Schedule{}, []look{{"240h", false}, {"100h30m", false}, {"10m", false}, {"1h", false}}, "ran 7 12:00, ran 27 13:00"},
		{"up to its end", earshot.Schedule{Until: noon.Add(2 * time.Hour)}, []look{{"1h", false}, {"2h", true}, {"2h1m", false}}, "ran 27 13:00, skipped 27 14:00, ended"},
		{"its last run goes on", earshot.Schedule{Until: noon.Add(2 * time.Hour)}, []look{{"2h1m", true}, {"50h", true}, {"51h", false}}, "skipped 27 14:00, ended"},
		{"asleep at its end", earshot.Schedule{Until: noon.Add(2 * time.Hour)}, []look{{"50h", false}}, "ran 27 14:00, ended"},
		{"with jitter", earshot.Schedule{Jitter: time.Hour}, []look{{"1h", false}, {"1h59m59s", false}, {"2h1s", false}}, "ran 27 13:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.is.Spec == "" {
				tt.is.Spec = "0 * * * *"
			}
			e := &Entry{Schedule: tt.is, Event: earshot.Event{ID: "s"}, Cursor: noon}
			var m RunState
			var all []string
			for _, l := range tt.when {
				if l.at == "restart" {
					m = RunState{}
					continue
				}
				since, err := time.ParseDuration(l.at)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, follow(t, e, &m, l.open, noon.Add(since))...)
			}
			if got := strings.Join(all, ", "); got != tt.want {
				t.Errorf("it did %q, want %q", got, tt.want)
			}
		})
	}
	paused := Entry{Schedule: earshot.Schedule{Spec: "0 * * * *"}, Cursor: noon, Paused: true}
	if done := follow(t, &paused, new(RunState), false, noon.Add(100*time.Hour)); len(done) > 0 {
		t.Errorf("paused it did %q", done)
	}
}

func several(format string, from, to int) (all string) {
	for n := from; n <= to; n++ {
		all += ", " + fmt.Sprintf(format, n)
	}
	return all
}

// TestAnyClock: whatever the clock does within a day, the program restarting as it likes, no run is done or
// skipped twice, they come in order, and when all is calm again what was due is dealt with.
func TestAnyClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Entry{Event: earshot.Event{ID: earshot.EventID(rapid.String().Draw(t, "id"))}, Cursor: noon}
		e.Spec = rapid.SampledFrom([]string{"*/7 * * * *", "0 * * * *", "30 */3 * * *"}).Draw(t, "spec")
		e.Missed = rapid.SampledFrom([]string{MissedSkip, MissedOnce, MissedAll}).Draw(t, "missed")
		e.Overlap = rapid.SampledFrom([]string{OverlapSkip, OverlapQueue}).Draw(t, "overlap")
		e.Jitter = time.Duration(rapid.IntRange(0, 90).Draw(t, "jitter")) * time.Minute
		table, err := NewTimetable(e.Spec, "UTC")
		if err != nil {
			t.Fatal(err)
		}
		var m RunState
		done, now, newest := noon, noon, noon
		look := func(open bool) {
			for range 200 {
				var d Action
				d, m = e.Step(table, now, open, m)
				if d.Act == "" {
					return
				}
				if !d.Due.After(done) || d.Due.Add(e.delay()).After(now) {
					t.Fatalf("at %v, after %v, it is %s of %v", now, done, d.Act, d.Due)
				}
				done, e.Cursor = d.Due, d.Due
				open = open || d.Act == earshot.ScheduleRan && rapid.Bool().Draw(t, "lasts")
			}
			t.Fatalf("at %v it never comes to rest", now)
		}
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(-120, 600).Draw(t, "minutes")) * time.Minute)
			if newest.Sub(now) > 20*time.Hour {
				now = newest
			}
			newest = slices.MaxFunc([]time.Time{now, newest}, time.Time.Compare)
			if rapid.Bool().Draw(t, "restart") {
				m = RunState{}
			}
			look(rapid.Bool().Draw(t, "open"))
		}
		now = newest.Add(time.Hour)
		for range 2 * mostMissed {
			look(false)
		}
		if left := last(table, done, now.Add(-e.delay())); !left.IsZero() {
			t.Errorf("at %v the run of %v is left", now, left)
		}
	})
}
