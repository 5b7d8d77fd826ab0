package attention

import (
	"errors"
	"time"

	"earshot/internal/field"
)

const (
	mostBudget   = 60   // times an hour; more is talking, not speaking up
	mostCoolDown = 3600 // seconds; the budget does the rest
)

// Config is the section executive.attention of the configuration file: when an
// agent speaks although nobody asked it. What it was asked it always answers. The
// zero value is an agent that never does; see [DefaultConfig].
type Config struct {
	// SpeakUnasked lets the agent say what it has found out and takes to be worth
	// it, and answer a question to the room that nobody answers.
	SpeakUnasked bool `yaml:"speak_unasked"`

	// QuietHours is when it does neither, such as 22:00-07:00 by the clock of this
	// machine. Empty means never.
	QuietHours Hours `yaml:"quiet_hours"`

	// HourlyBudget is how often in an hour it speaks unasked at most.
	HourlyBudget int `yaml:"hourly_budget"`

	// CoolDown is how long it is silent after that, before it does so again.
	CoolDown field.Seconds `yaml:"cool_down_seconds"`

	// LeastConfidence is how sure the agent must be, from 0 to 1, of what it says
	// unasked.
	LeastConfidence float64 `yaml:"least_confidence"`
}

// DefaultConfig returns an agent that speaks up a few times an hour, by day, and
// only if it is fairly sure.
func DefaultConfig() Config {
	return Config{SpeakUnasked: true, QuietHours: "22:00-07:00", HourlyBudget: 4, CoolDown: 120, LeastConfidence: 0.6}
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if _, _, err := c.QuietHours.span(); err != nil {
		faults = append(faults, field.Errorf("quiet_hours", "is %q; must be two times of day, such as 22:00-07:00, or empty for none", string(c.QuietHours)))
	}
	if c.HourlyBudget < 0 || c.HourlyBudget > mostBudget {
		faults = append(faults, field.Errorf("hourly_budget", "is %d; must be from 0 to %d", c.HourlyBudget, mostBudget))
	}
	if !(c.CoolDown >= 0 && c.CoolDown <= mostCoolDown) {
		faults = append(faults, field.Errorf("cool_down_seconds", "is %v; must be from 0s to %v", c.CoolDown, field.Seconds(mostCoolDown)))
	}
	if !(c.LeastConfidence >= 0 && c.LeastConfidence <= 1) {
		faults = append(faults, field.Errorf("least_confidence", "is %v; must be from 0 to 1", c.LeastConfidence))
	}
	return errors.Join(faults...)
}

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
	end := time.Date(t.Year(), t.Month(), t.Day(), to/60, to%60, 0, 0, t.Location())
	if !end.After(t) {
		end = time.Date(t.Year(), t.Month(), t.Day()+1, to/60, to%60, 0, 0, t.Location())
	}
	return end
}
