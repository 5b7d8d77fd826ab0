package microphone

import (
	"errors"

	"earshot/internal/field"
	"earshot/models/hear"
)

// Config is the section providers.microphone of the configuration. The zero value is not usable;
// start from [DefaultConfig].
type Config struct {
	// Enabled lets the agent hear what is said at this machine. It is off by default.
	Enabled bool `yaml:"enabled"`

	// Device is the name of the microphone; empty means the system's default.
	Device string `yaml:"device"`

	// LeastConfidence is how confident a recogniser must be, from 0 to 1. Anything less counts as
	// no speech, or as not understood.
	LeastConfidence float64 `yaml:"least_confidence"`

	// Deaf is the time without any sound at all, not even noise, after which the microphone is
	// reported as muted; 0 is never.
	Deaf field.Seconds `yaml:"deaf_seconds"`

	// Ear says how it listens.
	Ear hear.Config `yaml:"ear"`
}

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config {
	return Config{LeastConfidence: 0.25, Deaf: 60, Ear: hear.DefaultConfig()}
}

// Validate reports every fault in c, not only the first. Whether the device exists is found out
// when it is opened.
func (c Config) Validate() error {
	var faults []error
	if !(c.LeastConfidence >= 0 && c.LeastConfidence <= 1) {
		faults = append(faults, field.Errorf("least_confidence", "is %v; must be from 0 to 1", c.LeastConfidence))
	}
	if c.Deaf != 0 && !(c.Deaf >= 5) {
		faults = append(faults, field.Errorf("deaf_seconds", "is %v; must be 5 or more, or 0 for never", c.Deaf))
	}
	return errors.Join(append(faults, field.Under("ear", c.Ear.Validate()))...)
}
