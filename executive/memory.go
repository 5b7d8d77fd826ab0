package executive

import (
	"errors"

	"earshot/internal/field"
)

// Memory is what agents remember of what left their dialogue.
type Memory struct {
	// Enabled has a model read, when nobody talks, what was said, and write down what will matter
	// later, and lets agents do so by their tool. A model reads within what may be thought unasked in
	// a day, and rests on battery like that. Without it, what is remembered already is still known.
	Enabled bool `yaml:"enabled"`

	// Quiet is how long nothing is said in a room before that.
	Quiet field.Seconds `yaml:"quiet_seconds"`

	// MostTokens is how much of a prompt what is remembered may be. 0 shows nothing of it.
	MostTokens int `yaml:"most_tokens"`
}

// mostKnown is the most tokens of it: beyond that, small models lose the question.
const mostKnown = 4000

func (m Memory) validate() error {
	var faults []error
	if m.Quiet < 1 || m.Quiet > 24*3600 {
		faults = append(faults, field.Errorf("quiet_seconds", "is %v; must be from 1 second to a day", m.Quiet))
	}
	if m.MostTokens < 0 || m.MostTokens > mostKnown {
		faults = append(faults, field.Errorf("most_tokens", "is %d; must be from 0 to %d", m.MostTokens, mostKnown))
	}
	return errors.Join(faults...)
}
