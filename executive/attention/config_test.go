package attention_test

import (
	"testing"
	"time"

	"earshot/executive/attention"
	"earshot/internal/field"
)

func TestHours(t *testing.T) {
	at := func(clock string) time.Time {
		c, _ := time.Parse("15:04", clock)
		return time.Date(2026, 3, 2, c.Hour(), c.Minute(), 30, 0, time.UTC)
	}
	for _, tt := range []struct {
		hours attention.Hours
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

func TestValidate(t *testing.T) {
	if err := attention.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		change func(*attention.Config)
		want   string
	}{
		{func(c *attention.Config) { c.QuietHours = "" }, ""},
		{func(c *attention.Config) { c.QuietHours = "22-7" }, `quiet_hours: is "22-7"; must be two times of day, such as 22:00-07:00, or empty for none`},
		{func(c *attention.Config) { c.QuietHours = "22:00-25:00" }, `quiet_hours: is "22:00-25:00"; must be two times of day, such as 22:00-07:00, or empty for none`},
		{func(c *attention.Config) { c.HourlyBudget = 61 }, "hourly_budget: is 61; must be from 0 to 60"},
		{func(c *attention.Config) { c.CoolDown = -1 }, "cool_down_seconds: is -1s; must be from 0s to 3600s"},
		{func(c *attention.Config) { c.LeastConfidence = 1.1 }, "least_confidence: is 1.1; must be from 0 to 1"},
	} {
		c := attention.DefaultConfig()
		tt.change(&c)
		got := ""
		for _, f := range field.Faults(c.Validate()) {
			got += f.Error()
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
