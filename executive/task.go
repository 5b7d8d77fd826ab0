package executive

import (
	"errors"

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

func (t Task) validate() error {
	var faults []error
	for key, is := range map[string][2]int{ // and the most, which no household reaches
		"most": {t.Most, 1000}, "at_once": {t.AtOnce, 64}, "tokens": {t.Tokens, 100_000_000}, "time_seconds": {int(t.Time), 30 * 24 * 3600}, "calls": {t.Calls, 100_000},
	} {
		if is[0] < 1 || is[0] > is[1] {
			faults = append(faults, field.Errorf(key, "is %d; must be from 1 to %d", is[0], is[1]))
		}
	}
	return errors.Join(faults...)
}
