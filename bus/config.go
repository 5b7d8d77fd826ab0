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

	// Cluster has the servers of several daemons pass on to each other what is published.
	Cluster Cluster `yaml:"cluster"`

	// Seed is the nkey by which earshot connects to those servers.
	Seed field.Secret `yaml:"seed"`
}

// A Cluster says how the servers of several daemons reach each other. They have the same certificate.
type Cluster struct {
	// Listen is where the other servers connect, HOST:PORT, such as :6222. Empty means that there are
	// none.
	Listen string `yaml:"listen"`

	// Servers are those of all daemons, HOST:PORT of their Listen.
	Servers []string `yaml:"servers"`
}

// Enabled reports whether there is to be a bus.
func (c Config) Enabled() bool { return c.Listen != "" || len(c.Servers) > 0 }

// MaxAddresses is how many addresses or servers there may be.
const MaxAddresses = 16

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	for key, at := range map[string]string{"listen": c.Listen, "cluster.listen": c.Cluster.Listen} {
		if _, port, err := net.SplitHostPort(at); at != "" && (err != nil || port == "" || port == "0") {
			faults = append(faults, field.Errorf(key, "is %q; must be HOST:PORT, or :PORT for every address of this machine, such as :4223", at))
		}
	}
	if (c.Cluster.Listen != "") != (len(c.Cluster.Servers) > 0) || c.Cluster.Listen != "" && c.Listen == "" {
		faults = append(faults, field.Errorf("cluster", "needs listen and servers, and bus.listen too; set all three or none"))
	}
	if c.Listen != "" && len(c.Servers) > 0 {
		faults = append(faults, field.Errorf("servers", "are set, and listen too; use a server of one's own or others"))
	}
	for key, all := range map[string][]string{"addresses": c.Addresses, "servers": c.Servers, "cluster.servers": c.Cluster.Servers} {
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
