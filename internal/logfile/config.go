package logfile

import (
	"errors"
	"path/filepath"
	"strings"

	"earshot/internal/field"
)

// Config is the section log: what the daemon writes down about itself, which is never what somebody
// said. The zero value is not usable; start from [DefaultConfig].
type Config struct {
	// Level is the least that is written down: debug, info, warn or error.
	Level string `yaml:"level"`

	// File is where to; empty means earshot.log in the user's state directory,
	// and "-" standard error.
	File string `yaml:"file"`
}

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config { return Config{Level: "info"} }

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	switch c.Level {
	case "debug", "info", "warn", "error":
	default:
		faults = append(faults, field.Errorf("level", "is %q; must be one of debug, info, warn, error", c.Level))
	}
	if strings.ContainsRune(c.File, 0) {
		faults = append(faults, field.Errorf("file", "has a zero byte in it"))
	} else if c.File != "" && c.File != "-" && !filepath.IsAbs(c.File) {
		faults = append(faults, field.Errorf("file", "is %q; write the whole path, from the root, or - for standard error", c.File))
	}
	return errors.Join(faults...)
}
