package executive

import (
	"errors"

	"earshot/internal/field"
)

// Memory is what agents remember of what left their dialogue.
type Memory struct {
	// Enabled lets a model read what was said, when nobody talks, and write down what will matter later.
	// It also lets agents do that by their tool. The reading counts as thinking unasked, so it keeps to
	// that limit of a day and rests on battery. Without it, what is remembered already is still known.
	Enabled bool `yaml:"enabled"`

	// Quiet is how long nobody must have said anything in a room before the model reads.
	Quiet field.Seconds `yaml:"quiet_seconds"`

	// MostTokens is how many tokens of a prompt may be what is remembered. 0 shows the model nothing of it.
	MostTokens int `yaml:"most_tokens"`
}

// mostKnown is the largest MostTokens: beyond that, small models lose the question.
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
