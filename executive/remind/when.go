package remind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// When returns the time that people and models mean by text: from now on, as
// "90s", "10m" or "1h30m", or a number of them such as "2d"; the next time that
// a clock here shows "15:04"; or a whole time, as in RFC 3339.
func When(now time.Time, text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= mostDays {
			return now.Local().AddDate(0, 0, n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		return clockTime(now.Local(), clock), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("that is no time; write 10m, 1h30m or 2d for later, or 15:04, or %s", now.Local().Add(24*time.Hour).Format(time.RFC3339))
}

// mostDays keeps a number from being more than there is time.
const mostDays = 1000

// clockTime returns when a clock next shows what it shows at clock, also on a day
// on which it does so twice, because it is put back. On a day on which it never
// does, because it is put forward, it is the time that follows.
func clockTime(now, clock time.Time) time.Time {
	for day := 0; ; day++ {
		for _, at := range showing(now.Year(), now.Month(), now.Day()+day, clock, now.Location()) {
			if at.After(now) {
				return at
			}
		}
	}
}

// showing returns when clocks of a place show a time on a day: as they go at the
// beginning of it, and as they go at its end. [time.Date] does not say which of
// the two it means.
func showing(year int, month time.Month, day int, clock time.Time, place *time.Location) (all []time.Time) {
	noon := time.Date(year, month, day, 12, 0, 0, 0, place)
	written := time.Date(year, month, day, clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	for _, by := range []time.Time{noon.Add(-13 * time.Hour), noon.Add(12 * time.Hour)} {
		_, east := by.Zone()
		all = append(all, written.Add(-time.Duration(east)*time.Second).In(place))
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(at time.Time) bool { return at.Hour() != clock.Hour() || at.Minute() != clock.Minute() })
	if len(shown) == 0 {
		return all[:1]
	}
	return shown
}
