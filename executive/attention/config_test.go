package attention_test

import (
	"testing"

	"earshot/executive/attention"
	"earshot/internal/field"
)

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
