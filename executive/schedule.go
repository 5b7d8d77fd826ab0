package executive

import (
	"errors"
	"time"

	"earshot/internal/field"
)

// Schedule is what is done by the clock.
type Schedule struct {
	Enabled bool   `yaml:"enabled"` // does it; what is due meanwhile counts as missed
	Most    int    `yaml:"most"`    // schedules of one person
	Zone    string `yaml:"zone"`    // of those that name none; empty is that of the machine
}

func (s Schedule) validate() error {
	var faults []error
	if s.Most < 1 || s.Most > 1000 { // each is looked at every minute
		faults = append(faults, field.Errorf("most", "is %d; must be from 1 to 1000", s.Most))
	}
	if _, err := time.LoadLocation(s.Zone); err != nil {
		faults = append(faults, field.Errorf("zone", "is %q, which is no time zone here; must be one such as Europe/Berlin", s.Zone))
	}
	return errors.Join(faults...)
}
