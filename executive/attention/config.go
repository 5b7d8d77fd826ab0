package attention

import (
	"errors"

	"earshot/internal/field"
)

const (
	mostBudget   = 60   // times an hour; more is talking, not speaking up
	mostCoolDown = 3600 // seconds; the budget does the rest
)

// Config is the section executive.attention of the configuration file: it says when an agent speaks
// although nobody asked it. Questions to the agent are always answered. The zero value is an agent
// that never speaks unasked; see [DefaultConfig].
type Config struct {
	// SpeakUnasked lets the agent say findings that it considers worth saying, and answer a
	// question to the room that nobody answers.
	SpeakUnasked bool `yaml:"speak_unasked"`

	// QuietHours are when it does neither, such as 22:00-07:00 by the clock of this machine. Empty
	// means never.
	QuietHours field.Hours `yaml:"quiet_hours"`

	// HourlyBudget is how many times an hour it may speak unasked.
	HourlyBudget int `yaml:"hourly_budget"`

	// CoolDown is how long the agent is silent after speaking unasked before it does so again.
	CoolDown field.Seconds `yaml:"cool_down_seconds"`

	// LeastConfidence is how sure the agent must be, from 0 to 1, of what it says unasked.
	LeastConfidence float64 `yaml:"least_confidence"`
}

// DefaultConfig returns an agent that speaks up a few times an hour, by day, and only if it is
// fairly sure.
func DefaultConfig() Config {
	return Config{SpeakUnasked: true, QuietHours: "22:00-07:00", HourlyBudget: 4, CoolDown: 120, LeastConfidence: 0.6}
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	return errors.Join(
		field.Check(c.QuietHours.Valid(), "quiet_hours", "is %q; must be two times of day, such as 22:00-07:00, or empty for none", string(c.QuietHours)),
		field.Check(c.HourlyBudget >= 0 && c.HourlyBudget <= mostBudget, "hourly_budget", "is %d; must be from 0 to %d", c.HourlyBudget, mostBudget),
		field.Check(c.CoolDown >= 0 && c.CoolDown <= mostCoolDown, "cool_down_seconds", "is %v; must be from 0s to %v", c.CoolDown, field.Seconds(mostCoolDown)),
		field.Check(c.LeastConfidence >= 0 && c.LeastConfidence <= 1, "least_confidence", "is %v; must be from 0 to 1", c.LeastConfidence),
	)
}
