package daemon

import "earshot/bus"

// busConn returns the connection with the bus, or nil if there is none.
func (d *Daemon) busConn() bus.Bus { return d.options.bus }
