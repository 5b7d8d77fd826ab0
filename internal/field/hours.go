package field

import (
	"errors"
	"time"
)

// Hours are the same hours of every day, such as 22:00-07:00; empty for none.
type Hours string

// errHours is a text that is no hours.
var errHours = errors.New("no hours")

// span returns from which minute of the day to which they last.
func (h Hours) span() (from, to int, err error) {
	if h == "" {
		return 0, 0, nil
	}
	if len(h) != len("22:00-07:00") || h[5] != '-' {
		return 0, 0, errHours
	}
	begin, err1 := time.Parse("15:04", string(h[:5]))
	end, err2 := time.Parse("15:04", string(h[6:]))
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	return minute(begin), minute(end), nil
}

func minute(t time.Time) int { return t.Hour()*60 + t.Minute() }

// Valid reports whether h is empty or two times of day.
func (h Hours) Valid() bool {
	_, _, err := h.span()
	return err == nil
}

// Has reports whether t is within h, by the clock of its place. Hours that begin
// when they end are the whole day; those that are none are never.
func (h Hours) Has(t time.Time) bool {
	from, to, err := h.span()
	switch m := minute(t); {
	case h == "" || err != nil:
		return false
	case from < to:
		return m >= from && m < to
	default:
		return m >= from || m < to
	}
}

// Over returns when the hours end in which t is. It wants that they have it, and
// that they are not the whole day; else it returns the zero Time.
func (h Hours) Over(t time.Time) time.Time {
	from, to, err := h.span()
	if err != nil || from == to || !h.Has(t) {
		return time.Time{}
	}
	end := func(day int) time.Time { return time.Date(t.Year(), t.Month(), day, to/60, to%60, 0, 0, t.Location()) }
	if today := end(t.Day()); today.After(t) {
		return today
	}
	return end(t.Day() + 1)
}
