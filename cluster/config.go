package cluster

import "earshot/internal/field"

// Config is the section cluster of the configuration. The zero value is a daemon that is alone.
type Config struct {
	// Name is that of this daemon among those that share the database. Empty means that there are no
	// others.
	Name string `yaml:"name"`
}

// DefaultConfig returns the configuration for a file without this section.
func DefaultConfig() Config { return Config{} }

// Validate reports every fault in c.
func (c Config) Validate() error {
	if c.Name != "" && CheckID(NewID(c.Name)) != nil {
		return field.Errorf("name", "is %q; must have 1 to 32 small letters, digits and hyphens, such as attic", c.Name)
	}
	return nil
}
