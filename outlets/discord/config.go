package discord

import (
	"errors"

	"earshot/internal/field"
)

// Config is the section outlets.discord of the configuration: how replies come out on Discord, if
// providers.discord is enabled. The zero value is silent; start from [DefaultConfig].
type Config struct {
	// Text writes replies in text channels.
	Text bool `yaml:"text"`

	// Voice says replies in voice channels.
	Voice bool `yaml:"voice"`

	// Transcript also writes what is said in a voice channel to its chat.
	Transcript bool `yaml:"transcript"`

	// VoiceName is the name of the voice.
	VoiceName string `yaml:"voice_name"`

	// Speed is how fast the voice speaks; 1 is its natural speed.
	Speed float64 `yaml:"speed"`
}

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config {
	return Config{Text: true, Voice: true, VoiceName: "slt", Speed: 1}
}

// The limits of Speed: beyond them nobody understands a word.
const (
	slowest = 0.5
	fastest = 2.5
)

// Validate reports every fault in c, not only the first. Whether the voice exists is found out
// when it is opened.
func (c Config) Validate() error {
	var faults []error
	if c.VoiceName == "" {
		faults = append(faults, field.Errorf("voice_name", "is empty; write the name of a voice, such as slt"))
	}
	if !(c.Speed >= slowest && c.Speed <= fastest) {
		faults = append(faults, field.Errorf("speed", "is %v; must be from %v to %v", c.Speed, slowest, fastest))
	}
	return errors.Join(faults...)
}
