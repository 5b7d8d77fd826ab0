package server

import (
	"fmt"
	"os"
	"path/filepath"

	"earshot/internal/field"
)

// longest is how long the path of a unix socket may be: 104 bytes with its end
// on macOS, 108 on Linux. One limit for both keeps a configuration portable.
const longest = 103

// Config is the section server of the configuration file. The zero value is
// usable.
type Config struct {
	// Socket is the path of the socket that earshot chat and the other
	// commands connect to. Its directory must be the user's own and closed to
	// others; it is made if it is not there. Empty means
	// earshot/earshot.sock in the user's runtime directory.
	Socket string `yaml:"socket"`
}

// DefaultConfig returns the section as it is when the file says nothing.
func DefaultConfig() Config { return Config{} }

// Validate reports every fault in c.
func (c Config) Validate() error {
	switch path := c.Path(); {
	case !filepath.IsAbs(path):
		return field.Errorf("socket", "is %q; must be an absolute path", path)
	case len(path) > longest:
		return field.Errorf("socket", "has %d bytes; the path of a socket has at most %d", len(path), longest)
	}
	return nil
}

// Path returns where the socket is.
func (c Config) Path() string {
	if c.Socket != "" {
		return c.Socket
	}
	const name = "earshot.sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "earshot", name)
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("earshot-%d", os.Getuid()), name)
}
