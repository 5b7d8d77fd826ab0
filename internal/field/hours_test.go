package field_test

import (
	"testing"
	"time"

	"earshot/internal/field"
)

func TestHours(t *testing.T) {
	at := func(clock string) time.Time {
		c, _ := time.Parse("15:04", clock)
		return time.Date(2026, 3, 2, c.Hour(), c.Minute(), 30, 0, time.UTC)
	}
	for _, tt := range []struct {
		hours field.Hours
		at    string
		has   bool
		over  time.Time
	}{
		{"22:00-07:00", "21:59", false, time.Time{}},
		{"22:00-07:00", "22:00", true, time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)},
		{"22:00-07:00", "06:59", true, time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)},
		{"22:00-07:00", "07:00", false, time.Time{}},
		{"12:30-13:00", "12:45", true, time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)},
		{"12:30-13:00", "13:00", false, time.Time{}},
		{"08:00-08:00", "03:00", true, time.Time{}},
		{"", "03:00", false, time.Time{}},
		{"soon", "03:00", false, time.Time{}},
	} {
		if got := tt.hours.Has(at(tt.at)); got != tt.has {
			t.Errorf("%q has %s: %v", string(tt.hours), tt.at, got)
		}
		if got := tt.hours.Over(at(tt.at)); !got.Equal(tt.over) {
			t.Errorf("%q is over after %s at %v, want %v", string(tt.hours), tt.at, got, tt.over)
		}
	}
}
