package server

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"earshot/internal/field"
)

// longest is how long the path of a unix socket may be: 104 bytes with its terminator on macOS,
// 108 on Linux. One limit for both keeps a configuration portable.
const longest = 103

// Config is the section server of the configuration file. The zero value is
// usable.
type Config struct {
	// Socket is the path of the socket that earshot chat and the other commands connect to. Its
	// directory must belong to the user and be closed to others; it is created if it is missing.
	// Empty means earshot/earshot.sock in the user's runtime directory.
	Socket string `yaml:"socket"`

	// Listen is a host of this machine and a port that also serve the API, such as 127.0.0.1:8765.
	// Empty means none.
	Listen string `yaml:"listen"`

	// AllowedHosts are the host names that requests may use besides localhost and the addresses of
	// this machine, each with an optional port.
	AllowedHosts []string `yaml:"allowed_hosts"`

	// AllowedOrigins are the origins of web pages that may send requests, such as
	// http://localhost:3000.
	AllowedOrigins []string `yaml:"allowed_origins"`

	// RequestsPerSecond limits the requests of each person and each address at Listen; bursts may
	// use two seconds' worth. 0 means no limit.
	RequestsPerSecond int `yaml:"requests_per_second"`
}

// DefaultConfig returns the section with its defaults.
func DefaultConfig() Config { return Config{RequestsPerSecond: 50} }

// Validate reports every fault in c.
func (c Config) Validate() error {
	var faults []error
	switch path := c.Path(); {
	case !filepath.IsAbs(path):
		faults = append(faults, field.Errorf("socket", "is %q; must be an absolute path", path))
	case len(path) > longest:
		faults = append(faults, field.Errorf("socket", "has %d bytes; the path of a socket can have at most %d", len(path), longest))
	}
	if c.Listen != "" {
		if _, _, err := splitAddress(c.Listen); err != nil {
			faults = append(faults, field.Errorf("listen", "%v", err))
		}
	}
	for i, host := range c.AllowedHosts {
		if !hostName.MatchString(host) {
			faults = append(faults, field.Errorf(fmt.Sprintf("allowed_hosts[%d]", i), "is %q; must be a name such as earshot.example, optionally with :port, and not * or an address", host))
		}
	}
	for i, origin := range c.AllowedOrigins {
		if !originName.MatchString(origin) || new(http.CrossOriginProtection).AddTrustedOrigin(origin) != nil {
			faults = append(faults, field.Errorf(fmt.Sprintf("allowed_origins[%d]", i), "is %q; must be an origin as a browser sends it, such as http://localhost:3000, and not *", origin))
		}
	}
	if c.RequestsPerSecond < 0 || c.RequestsPerSecond > mostRequests {
		faults = append(faults, field.Errorf("requests_per_second", "is %d; must be from 0 to %d", c.RequestsPerSecond, mostRequests))
	}
	return errors.Join(faults...)
}

// mostRequests is the largest limit that has an effect.
const mostRequests = 100_000

var (
	hostName   = regexp.MustCompile(`^([a-zA-Z0-9][a-zA-Z0-9-]*\.)*[a-zA-Z][a-zA-Z0-9-]*(:[0-9]{1,5})?$`) // the last label of an IPv4 address is a number
	originName = regexp.MustCompile(`^https?://[a-zA-Z0-9.:\[\]-]+$`)
)

// Path returns the path of the socket.
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
