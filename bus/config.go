package bus

import (
	"errors"
	"net"

	"earshot/internal/field"
)

// Config is the section bus of the configuration. The zero value is no bus.
type Config struct {
	// Listen is where satellites connect, HOST:PORT, such as :4223. Empty means nowhere.
	Listen string `yaml:"listen"`

	// Addresses are those by which satellites reach this machine, HOST:PORT. Without any, those that its
	// network has given it are used.
	Addresses []string `yaml:"addresses"`

	// Servers are NATS servers to use instead of one's own, HOST:PORT.
	Servers []string `yaml:"servers"`

	// Seed is the nkey by which earshot connects to those servers.
	Seed field.Secret `yaml:"seed"`
}

// Enabled reports whether there is to be a bus.
func (c Config) Enabled() bool { return c.Listen != "" || len(c.Servers) > 0 }

// MaxAddresses is how many addresses or servers there may be.
const MaxAddresses = 16

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if _, port, err := net.SplitHostPort(c.Listen); c.Listen != "" && (err != nil || port == "" || port == "0") {
		faults = append(faults, field.Errorf("listen", "is %q; must be HOST:PORT, or :PORT for every address of this machine, such as :4223", c.Listen))
	}
	if c.Listen != "" && len(c.Servers) > 0 {
		faults = append(faults, field.Errorf("servers", "are set, and listen too; use a server of one's own or others"))
	}
	for key, all := range map[string][]string{"addresses": c.Addresses, "servers": c.Servers} {
		if len(all) > MaxAddresses {
			faults = append(faults, field.Errorf(key, "has %d entries; must have at most %d", len(all), MaxAddresses))
		}
		for _, a := range all {
			if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" || len(a) > 256 {
				faults = append(faults, field.Errorf(key, "has %q; must be HOST:PORT, such as hub.local:4223", a))
			}
		}
	}
	return errors.Join(faults...)
}
