package erase

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"earshot/participants"
)

// ParseTime parses a time as people write it: 10:00 is the last time that the clock showed it, 2h
// and 3d are that long ago. An empty text gives the zero time.
func ParseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if n, is := strings.CutSuffix(text, "d"); is {
		if days, err := strconv.Atoi(n); err == nil && days > 0 && days < 100_000 {
			return now.AddDate(0, 0, -days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		at, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		if today.After(now) {
			today = time.Date(now.Year(), now.Month(), now.Day()-1, at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		}
		return today, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write 10:00, 2h, 3d, 2027-01-31 or \"2027-01-31 10:00\"", participants.OneLine(text))
}

// CutSpan extracts a time span from a text.
func CutSpan(text string) (rest, from, to string) {
	padded := " " + text + " "
	for _, word := range []string{" since ", " from "} {
		if before, after, ok := strings.Cut(padded, word); ok {
			from, to, _ = strings.Cut(after, " to ")
			return strings.TrimSpace(before), strings.TrimSpace(from), strings.TrimSpace(to)
		}
	}
	if before, after, ok := strings.Cut(padded, " until "); ok {
		return strings.TrimSpace(before), "", strings.TrimSpace(after)
	}
	return text, "", ""
}
