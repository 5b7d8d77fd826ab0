package daemon

import (
	"context"

	"earshot/api"
	"earshot/cluster"
	"earshot/executive"
	"earshot/server/wire"
)

var errAlone = &wire.Refusal{Problem: "this earshot is not one of several", Mend: "set cluster.name; see docs/several-machines.md"}

// Cluster implements [server.Admin].
func (h backend) Cluster(context.Context) (api.Cluster, error) {
	if h.daemon.cluster == nil {
		return api.Cluster{}, errAlone
	}
	return h.daemon.cluster.State(), nil
}

// Drain implements [server.Admin].
func (h backend) Drain(ctx context.Context, r api.DrainRequest) (api.Cluster, error) {
	if h.daemon.cluster == nil {
		return api.Cluster{}, errAlone
	}
	return h.daemon.cluster.Drain(ctx, r)
}

// elsewhere returns the name of the daemon that has a room; "" if it is here, or nobody's.
func (d *Daemon) elsewhere(room executive.Room) (name string) {
	if d.cluster != nil {
		if id, here := d.cluster.Owner(string(room.ID)); !here {
			name = cluster.Heartbeat{ID: id}.Name()
		}
	}
	return name
}
