package executive

import (
	"errors"
	"time"

	"earshot/internal/field"
)

// Task is work that agents do beside the talk.
type Task struct {
	// Enabled lets people set tasks, and agents work on them.
	Enabled bool `yaml:"enabled"`

	// Most is how many may be open, and AtOnce how many are worked on at a time.
	Most   int `yaml:"most"`
	AtOnce int `yaml:"at_once"`

	// Tokens, Time and Calls are what one may take: tokens read and written, time of work without
	// waiting for people, and calls of tools.
	Tokens int           `yaml:"tokens"`
	Time   field.Seconds `yaml:"time_seconds"`
	Calls  int           `yaml:"calls"`
}

const (
	mostTasks = 1000
	mostSpent = 100_000_000
	mostWork  = field.Seconds(30 * 24 * time.Hour / time.Second)
	mostCalls = 100_000
)

func (t Task) validate() error {
	var faults []error
	check := func(key string, is, least, most int) {
		if is < least || is > most {
			faults = append(faults, field.Errorf(key, "is %d; must be from %d to %d", is, least, most))
		}
	}
	check("most", t.Most, 1, mostTasks)
	check("at_once", t.AtOnce, 1, 64)
	check("tokens", t.Tokens, 1, mostSpent)
	check("calls", t.Calls, 1, mostCalls)
	if t.Time < 1 || t.Time > mostWork {
		faults = append(faults, field.Errorf("time_seconds", "is %v; must be from 1 second to 30 days", t.Time))
	}
	return errors.Join(faults...)
}
