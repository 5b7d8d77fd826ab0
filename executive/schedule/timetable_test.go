package schedule

import (
	"math/bits"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestClockChanges: on the days on which the clocks of a place are changed, everything is done once.
func TestClockChanges(t *testing.T) {
	for _, tt := range []struct{ name, spec, zone, day, want string }{
		{"an ordinary day", "30 7 * * *", "Europe/Berlin", "2026-06-10", "07:30+02"},
		{"a time that is skipped", "30 2 * * *", "Europe/Berlin", "2026-03-29", "03:00+02"},
		{"a time that is there twice", "30 2 * * *", "Europe/Berlin", "2026-10-25", "02:30+02"},
		{"times around a skipped hour", "0,30 1-3 * * *", "Europe/Berlin", "2026-03-29", "01:00+01 01:30+01 03:00+02 03:30+02"},
		{"times around a doubled hour", "0,30 1-3 * * *", "Europe/Berlin", "2026-10-25", "01:00+02 01:30+02 02:00+02 02:30+02 03:00+01 03:30+01"},
		{"every hour, one skipped", "15 * * * *", "Europe/Berlin", "2026-03-29", "00:15+01 01:15+01 03:15+02 04:15+02"},
		{"every hour, one doubled", "15 * * * *", "Europe/Berlin", "2026-10-25", "00:15+02 01:15+02 02:15+02 02:15+01 03:15+01 04:15+01"},
		{"New York, skipped", "30 2 * * *", "America/New_York", "2026-03-08", "03:00-04"},
		{"New York, twice", "30 1 * * *", "America/New_York", "2026-11-01", "01:30-04"},
		{"Lord Howe skips half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-04", "02:30+11"},
		{"Lord Howe, before it", "45 1 * * *", "Australia/Lord_Howe", "2026-10-04", "01:45+1030"},
		{"Lord Howe, after it", "45 2 * * *", "Australia/Lord_Howe", "2026-10-04", "02:45+11"},
		{"Lord Howe doubles half an hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-05", "01:45+11"},
		{"Lord Howe, every half hour", "0,30 * * * *", "Australia/Lord_Howe", "2026-04-05", "00:00+11 00:30+11 01:00+11 01:30+11 01:30+1030 02:00+1030 02:30+1030 03:00+1030 03:30+1030 04:00+1030 04:30+1030"},
		{"a zone without changes", "30 2 * * *", "Asia/Tokyo", "2026-03-29", "02:30+09"},
		{"midnight is skipped", "0 0 * * *", "Africa/Cairo", "2026-04-24", "01:00+03"},
		{"it is midnight again", "30 23 * * *", "Africa/Cairo", "2026-10-29", "23:30+03"},
		{"either day", "0 4 13 * 5", "UTC", "2026-11-27", "04:00Z"},
		{"neither day", "0 4 13 * 5", "UTC", "2026-11-28", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table, err := NewTimetable(tt.spec, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			day, err := time.ParseInLocation("2006-01-02", tt.day, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			before := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, table.place).Add(-time.Nanosecond)
			for {
				at := table.Next(before)
				if at.IsZero() || at.In(table.place).Day() != day.Day() || at.In(table.place).Month() != day.Month() || tt.spec[len(tt.spec)-7:] == "* * * *" && at.Hour() > 4 {
					break
				}
				if back := last(table, before, at); !back.Equal(at) {
					t.Errorf("the last up to %v is %v", at, back)
				}
				all, before = append(all, at.Format("15:04Z07")), at
				if _, east := at.Zone(); east%3600 != 0 {
					all[len(all)-1] = at.Format("15:04Z0700")
				}
			}
			if got := strings.Join(all, " "); got != tt.want {
				t.Errorf("it is done at %q, want %q", got, tt.want)
			}
		})
	}
}

// last returns the last time up to one, if it is after another; else the zero Time.
func last(t Timetable, after, by time.Time) (last time.Time) {
	for at := range t.After(after) {
		if at.After(by) {
			break
		}
		last = at
	}
	return last
}

// TestTimetable: from whenever one looks, the next time is the first behind it, and the last one the last
// before; no time is between the two, and whatever is fixed comes once a day.
func TestTimetable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
		spec := strings.Join([]string{
			pick("minute", "0", "30", "*/20", "7,59", "*/59"), pick("hour", "*", "0", "1", "2", "3", "*/2", "1-3", "23"),
			pick("day", "*", "*", "1", "*/2", "29"), pick("month", "*", "*", "3,10", "2"), pick("weekday", "*", "*", "0", "1-5"),
		}, " ")
		table, err := NewTimetable(spec, pick("zone", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo", "Africa/Cairo", "America/Santiago", "UTC"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "m")), rapid.IntRange(1, 31).Draw(t, "d"), 0, rapid.IntRange(0, 1500).Draw(t, "minutes"), 0, 0, time.UTC)
		next := table.Next(at)
		if !next.After(at) {
			t.Fatalf("after %v comes %v", at, next)
		}
		if last := last(table, at, next); !last.Equal(next) {
			t.Errorf("up to %v the last one after %v is %v", next, at, last)
		}
		if last := last(table, at, next.Add(-time.Second)); !last.IsZero() {
			t.Errorf("between %v and %v there is %v", at, next, last)
		}
		if again := table.Next(next.Add(-time.Second)); !again.Equal(next) {
			t.Errorf("just before %v comes %v", next, again)
		}
		if following := table.Next(next); !following.After(next) || bits.OnesCount64(table.set.Hour) == 1 && bits.OnesCount64(table.set.Minute) == 1 && following.Sub(next) < 20*time.Hour {
			t.Errorf("after %v comes %v", next, following)
		}
	})
}

// TestParse: people say in many ways how often they want something.
func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, spec, rest string }{
		{"weekday at 7:30 water the plants", "30 7 * * 1-5", "water the plants"},
		{"every weekday at 7:30, tell me what is due", "30 7 * * 1-5", "tell me what is due"},
		{"on the first of the month pay the rent", "0 9 1 * *", "pay the rent"},
		{"the 1st and 15th of each month at noon: pay", "0 12 1,15 * *", "pay"},
		{"the 1st and the 2nd pay", "0 9 1,2 * *", "pay"},
		{"month on the 3rd at 8pm pay", "0 20 3 * *", "pay"},
		{"monthly on 3 pay", "0 9 3 * *", "pay"},
		{"morning look through your notes", "0 9 * * *", "look through your notes"},
		{"morning at 6 look through your notes", "0 6 * * *", "look through your notes"},
		{"night at 11 lock up", "0 23 * * *", "lock up"},
		{"night at 2 look", "0 2 * * *", "look"},
		{"evening lock up", "0 19 * * *", "lock up"},
		{"day at midnight lock up", "0 0 * * *", "lock up"},
		{"day at half past seven wake me", "30 7 * * *", "wake me"},
		{"daily at 8 wake me", "0 8 * * *", "wake me"},
		{"day 2 eggs", "0 9 * * *", "2 eggs"},
		{"monday, tuesday and friday at 8am go", "0 8 * * 1,2,5", "go"},
		{"mondays go", "0 9 * * 1", "go"},
		{"week on sunday in the evening go", "0 19 * * 0", "go"},
		{"saturday afternoon go", "0 15 * * 6", "go"},
		{"weekend go", "0 9 * * 0,6", "go"},
		{"hour look", "0 * * * *", "look"},
		{"2 hours look", "0 */2 * * *", "look"},
		{"15 minutes look", "*/15 * * * *", "look"},
		{"minute look", "* * * * *", "look"},
		{"30 7 * * 1-5 go", "30 7 * * 1-5", "go"},
		{"*/5 * * JAN mon go", "*/5 * * jan mon", "go"},
		{"day in Europe go", "0 9 * * *", "in Europe go"},
		{"friday 13:30", "30 13 * * 5", ""},
	} {
		if _, spec, rest, err := Parse(tt.text); err != nil || spec != tt.spec || strings.Join(rest, " ") != tt.rest {
			t.Errorf("%q is %q, %q, %v, want %q, %q", tt.text, spec, rest, err, tt.spec, tt.rest)
		}
	}
	for text, want := range map[string]string{
		"": "how often", "now and then go": "how often", "week go": "how often", "7 minutes go": "how often", "0 minutes go": "how often",
		"5 hours go": "how often", "5 go": "how often", "TZ=x 7 * * * go": "how often", "monday at midnight go": "two days",
		"monday night at 2 go": "two days", "day at 25:00 go": "what time",
	} {
		if _, spec, rest, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %q, %v, want an error with %q", text, spec, rest, err, want)
		}
	}
	for spec, want := range map[string]string{
		"2027 7 * * *": "not cron's syntax", "30 7 * * 7": "not cron's syntax", "*/0 * * * *": "not cron's syntax", "0 0 99999999999999999999 * *": "not cron's syntax",
		"30 7 31 2 *": "never", "TZ=": "begins with minutes", "CRON_TZ=x": "begins with minutes", "@every 1s": "begins with minutes", "": "begins with minutes",
	} {
		if _, err := NewTimetable(spec, "UTC"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", spec, err, want)
		}
	}
	for _, zone := range []string{"Mars/Olympus", "../../etc/passwd"} {
		if _, err := NewTimetable("0 9 * * *", zone); err == nil || !strings.Contains(err.Error(), "time zone") {
			t.Errorf("the zone %q: %v", zone, err)
		}
	}
}

// FuzzParse: whatever is written, it is refused, or it has a next time.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"weekday at 7:30 go", "30 7 * * 1-5 go", "TZ= * * * *", "CRON_TZ=x", "@every 1s", "on the 1st and 2nd of the month go", "every every", "* * * * 0-6/2"} {
		f.Add(text)
	}
	at := time.Date(2026, 11, 27, 18, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		_, spec, _, err := Parse(text)
		if err != nil {
			spec = text // the fields alone come from the journal
		}
		table, err := NewTimetable(spec, "UTC")
		if err != nil {
			return
		}
		if next := table.Next(at); !next.After(at) || !last(table, at, next).Equal(next) {
			t.Errorf("%q: %v", spec, next)
		}
	})
}
