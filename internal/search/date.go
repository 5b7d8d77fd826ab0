package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A form is how a time is written, and how long that which is written lasts.
var forms = []struct {
	layout              string
	years, months, days int // none of them: it is a moment
}{
	{time.RFC3339, 0, 0, 0}, {"2006-01-02T15:04:05", 0, 0, 0}, {"2006-01-02 15:04:05", 0, 0, 0}, {"2006-01-02T15:04", 0, 0, 0}, {"2006-01-02 15:04", 0, 0, 0},
	{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
}

// span returns the time that people mean by the value of an option: when it begins and, of a
// day, a month or a year, when it ends.
func span(option, text string, now time.Time) (from, to time.Time, err error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if day, is := dayCalled(text, now); is {
		return day, day.AddDate(0, 0, 1), nil
	}
	for _, f := range forms {
		from, err := time.ParseInLocation(f.layout, strings.ToUpper(text), now.Location())
		if err != nil {
			continue
		}
		if to := from.AddDate(f.years, f.months, f.days); to.After(from) || option != "on" {
			return from, to, nil
		}
	}
	if from, is := Ago(text, now); is && option != "on" {
		return from, from, nil
	}
	if option == "on" {
		return from, to, fmt.Errorf("on: names no day to search for: give %s, 2026-11, today, yesterday or monday", now.Format(time.DateOnly))
	}
	return from, to, fmt.Errorf("%s: names no time to search for: give %s, \"%s\", 10:30, today, yesterday, monday, or how long ago, as 3d or 12h",
		option, now.Format(time.DateOnly), now.Format("2006-01-02 15:04"))
}

// dayCalled returns the beginning of the last day that is called so.
func dayCalled(text string, now time.Time) (day time.Time, is bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	}
	for back := range 7 {
		day := today.AddDate(0, 0, -back)
		if name := strings.ToLower(day.Weekday().String()); text == name || text == name[:3] {
			return day, true
		}
	}
	return day, false
}

// Ago returns the time that people mean by 3d or 2h, which is so long ago, or by 10:00, which is the
// last time that the clock showed it.
func Ago(text string, now time.Time) (at time.Time, is bool) {
	if n, is := strings.CutSuffix(text, "d"); is {
		if days, err := strconv.Atoi(n); err == nil && days > 0 && days < 100_000 {
			return now.AddDate(0, 0, -days), true
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), true
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, true
		}
	}
	return at, false
}
