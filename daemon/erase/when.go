package erase

import (
	"fmt"
	"strings"
	"time"

	"earshot/internal/search"
	"earshot/participants"
)

// ParseTime parses a time as people write it: 10:00 is the last time that the clock showed it, 2h
// and 3d are that long ago. An empty text gives the zero time.
func ParseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if at, is := search.Ago(text, now); is {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
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
