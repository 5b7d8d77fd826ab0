package hear_test

import (
	"math"
	"strings"
	"testing"

	"earshot/internal/field"
	"earshot/models/hear"
)

func TestDefaultConfig(t *testing.T) {
	if err := hear.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		key  string
		set  func(*hear.Config)
		want string
	}{
		{"duck_frames", func(c *hear.Config) { c.Duck = 6 }, "is 6; must be from 1 to 5"},
		{"begin_frames", func(c *hear.Config) { c.Begin = 0 }, "is 0; must be from 1 to 8"},
		{"end_seconds", func(c *hear.Config) { c.End = 0 }, "is 0s; must be from 0.1s to 3s"},
		{"end_open_seconds", func(c *hear.Config) { c.EndOpen = 0.2 }, "is 0.2s; must be from 0.86s to 5s"},
		{"end_finished_seconds", func(c *hear.Config) { c.EndFinished = 0 }, "is 0s; must be from 0.1s to 3s"},
		{"end_dictated_seconds", func(c *hear.Config) { c.EndDictated = 0 }, "is 0s; must be from 0.1s to 10s"},
		{"end_wait_seconds", func(c *hear.Config) { c.EndWait = 11 }, "is 11s; must be from 0.1s to 10s"},
		{"pre_roll_seconds", func(c *hear.Config) { c.PreRoll = field.Seconds(math.NaN()) }, "is NaNs; must be from 0s to 1s"},
		{"longest_seconds", func(c *hear.Config) { c.Longest = 60 }, "is 60s; must be from 5s to 30s"},
		{"margin_db", func(c *hear.Config) { c.Margin = math.NaN() }, "is NaN; must be from 3 to 30"},
	} {
		t.Run(tt.key, func(t *testing.T) {
			c := hear.DefaultConfig()
			tt.set(&c)
			err := c.Validate()
			if err == nil || err.Error() != tt.key+": "+tt.want {
				t.Errorf("got %v, want %s: %s", err, tt.key, tt.want)
			}
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "hear: ") {
					t.Errorf("New took it, and said %q", said)
				}
			}()
			hear.New(c)
		})
	}
}
