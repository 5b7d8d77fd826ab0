package replay

import (
	"testing"
	"time"
)

// TestDayCalled: days are those of where earshot is, also where one has not 24 hours.
func TestDayCalled(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine knows of no time zones")
	}
	now := time.Date(2026, 10, 25, 23, 59, 59, 0, berlin) // the end of a day of 25 hours
	for _, tt := range []struct {
		text, from string
		hours      float64
	}{
		{"today", "2026-10-25T00:00:00+02:00", 25},
		{"Yesterday", "2026-10-24T00:00:00+02:00", 24},
		{"2026-03-29", "2026-03-29T00:00:00+01:00", 23},
	} {
		from, to, err := ParseDay(tt.text, now)
		if err != nil || from.Format(time.RFC3339) != tt.from || to.Sub(from).Hours() != tt.hours {
			t.Errorf("%s is from %v to %v, error %v", tt.text, from, to, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01", "22.11.2026", "\x1b[2J"} {
		if _, _, err := ParseDay(text, now); err == nil {
			t.Errorf("%q is a day", text)
		}
	}
}
