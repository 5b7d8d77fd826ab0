package daemon

import (
	"context"
	"errors"
	"net"

	"earshot"
	"earshot/bus"
	"earshot/bus/stream"
	"earshot/cluster"
	"earshot/daemon/access"
	"earshot/server"
	"earshot/server/wire"
	"earshot/store"
)

// mostRelayed is how many connections other daemons may have here, together.
const mostRelayed = 512

// relaySubject returns the subject at which the daemon of a name answers requests that others pass on.
func relaySubject(name string) string { return "earshot.cluster." + name + ".http" }

// relay returns how requests are passed on to the daemons that have their rooms.
func (c *clusterMember) relay() *server.Relay {
	return &server.Relay{Locate: c.locate, Dial: func(ctx context.Context, owner string) (net.Conn, error) {
		b := c.daemon.bus.Current()
		if b == nil {
			return nil, errors.New("there is no connection with the bus")
		}
		return stream.Dial(ctx, b, relaySubject(cluster.Heartbeat{ID: owner}.Name()))
	}}
}

// locate implements [server.Relay.Locate].
func (c *clusterMember) locate(id earshot.RoomID) (server.Location, error) {
	if r, here := c.daemon.rooms.Find(id); here {
		return server.Location{Left: r.Shut()}, nil
	}
	owner, here := c.Owner(string(id))
	switch {
	case owner != "" && !here:
		return server.Location{Owner: owner}, nil
	case !here && access.IsChannel(id): // it is closed; what was said in it can be read
		return server.Location{}, nil
	}
	return server.Location{}, wire.ErrMoved
}

// serveRelayed answers requests that other daemons pass on, until ctx ends.
func (c *clusterMember) serveRelayed(ctx context.Context) {
	c.daemon.bus.Keep(ctx, "other daemons cannot pass requests on to this one", func(ctx context.Context, b bus.Bus) error {
		l, err := stream.Listen(ctx, b, relaySubject(c.daemon.Config().Cluster.Name), mostRelayed)
		if err != nil {
			return err
		}
		return c.daemon.server.ServeRelayed(ctx, l)
	})
}

// noRoom is the error for a room that is not here.
func (d *Daemon) noRoom(id earshot.RoomID) error {
	if d.cluster != nil {
		if at, err := d.cluster.locate(id); err != nil || at.Owner != "" {
			return wire.ErrMoved
		}
	}
	return access.NoRoom(id, nil)
}

// moved returns err, or that a room has moved if that is what err comes from.
func moved(err error) error {
	if errors.Is(err, store.ErrFenced) {
		return wire.ErrMoved
	}
	return err
}
