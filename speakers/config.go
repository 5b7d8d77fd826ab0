package speakers

import (
	"errors"
	"time"

	"earshot"
	"earshot/internal/field"
)

// Config is the section speakers of the configuration, and what the program supplies beside it. The
// zero value is not usable; start from [DefaultConfig].
type Config struct {
	// Enabled makes the program distinguish voices. Without it, nobody is known by voice and
	// nothing is learnt; voices that are kept stay, and can be forgotten.
	Enabled bool `yaml:"enabled"`

	// Sure is how likely it must be, from 0.5 to 1, that a voice is somebody's for its words to be
	// attributed to them. Words that are less likely theirs have no author.
	Sure float64 `yaml:"sure"`

	// Begin is how much of a voice unlike all known ones must be heard before it counts as a new
	// voice.
	Begin field.Seconds `yaml:"begin_seconds"`

	// Enrol is how much of a voice must have been heard before it can be kept.
	Enrol field.Seconds `yaml:"enrol_seconds"`

	// MostUnknown is how many voices that are not kept may be known at once.
	MostUnknown int `yaml:"most_unknown"`

	// Changed receives every change, in order and one at a time, before the method that makes it
	// returns. It may read the registry but not change it. May be nil.
	Changed func(Change) `yaml:"-"`

	// Raw leaves judgements uncalibrated, for the program that learns the calibration.
	Raw bool `yaml:"-"`

	// Report receives faults of the file. May be nil.
	Report func(earshot.Notice) `yaml:"-"`

	// NewID makes the names of voices; nil makes ULIDs. It is never called concurrently.
	NewID func() string `yaml:"-"`
}

const (
	mostUnknown = 512
	mostHeard   = 5 * time.Minute // as long as somebody can be asked to speak
)

// DefaultConfig returns the configuration for a file without this section.
func DefaultConfig() Config {
	return Config{Enabled: true, Sure: 0.5, Begin: 1.5, Enrol: 12, MostUnknown: 64}
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if !(c.Sure >= 0.5 && c.Sure <= 1) {
		faults = append(faults, field.Errorf("sure", "is %v; must be from 0.5 to 1", c.Sure))
	}
	for _, f := range []struct {
		key   string
		is    field.Seconds
		least field.Seconds
	}{{"begin_seconds", c.Begin, 0.6}, {"enrol_seconds", c.Enrol, 2}} {
		if !(f.is >= f.least) || f.is.Duration() > mostHeard {
			faults = append(faults, field.Errorf(f.key, "is %v; must be from %v to %v seconds", float64(f.is), float64(f.least), mostHeard.Seconds()))
		}
	}
	if c.MostUnknown < 1 || c.MostUnknown > mostUnknown {
		faults = append(faults, field.Errorf("most_unknown", "is %d; must be from 1 to %d", c.MostUnknown, mostUnknown))
	}
	return errors.Join(faults...)
}
