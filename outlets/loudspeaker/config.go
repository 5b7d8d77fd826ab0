package loudspeaker

import (
	"errors"

	"earshot/internal/field"
)

// Config is the section outlets.loudspeaker of the configuration. The zero value is silent; start
// from [DefaultConfig].
type Config struct {
	// Enabled turns the agent's voice on.
	Enabled bool `yaml:"enabled"`

	// Device is the name of the loudspeaker; empty means the system's default.
	Device string `yaml:"device"`

	// Volume is the volume of the voice, from 0 to 1; 1 is its natural volume.
	Volume float64 `yaml:"volume"`

	// Voice is the name of the voice.
	Voice string `yaml:"voice"`

	// Speed is how fast the voice speaks; 1 is its natural speed.
	Speed float64 `yaml:"speed"`
}

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config {
	return Config{Enabled: true, Volume: 1, Voice: "slt", Speed: 1}
}

// The limits of Speed: beyond them nobody understands a word.
const (
	slowest = 0.5
	fastest = 2.5
)

// Validate reports every fault in c, not only the first. Whether the device and the voice exist is
// found out when they are opened.
func (c Config) Validate() error {
	var faults []error
	if !(c.Volume >= 0 && c.Volume <= 1) {
		faults = append(faults, field.Errorf("volume", "is %v; must be from 0 to 1", c.Volume))
	}
	if !(c.Speed >= slowest && c.Speed <= fastest) {
		faults = append(faults, field.Errorf("speed", "is %v; must be from %v to %v", c.Speed, slowest, fastest))
	}
	if c.Voice == "" {
		faults = append(faults, field.Errorf("voice", "is empty; write the name of a voice, such as slt"))
	}
	return errors.Join(faults...)
}
