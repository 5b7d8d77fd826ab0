package daemon

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/cluster"
	"earshot/executive"
	"earshot/server/wire"
)

// aloneAfter is for how long a daemon must be alone to say so: longer than another takes to start again.
const aloneAfter = 15 * time.Second

var errAlone = &wire.Refusal{Problem: "this earshot is not one of several", Mend: "set cluster.name; see docs/several-machines.md"}

// The problems of a member, each with what mends it.
var (
	databaseAway = earshot.Notice{Key: "cluster database", Text: "the database that the daemons share does not answer, so no room can be here", Cure: "start PostgreSQL, or mend the way to it (store.url)"}
	busAway      = earshot.Notice{Key: "cluster bus", Text: "the bus passes nothing on, so other daemons and satellites are not heard of", Cure: "look at its servers (bus.listen, bus.cluster, bus.servers), and at the network"}
	sameName     = earshot.Notice{Key: "cluster name", Text: "another daemon has the same cluster.name", Cure: "give each daemon a name of its own, and start it again"}
	wrongClock   = earshot.Notice{Key: "cluster clock", Text: "the clock of this machine is more than a minute away from that of the database", Cure: "set the one that is wrong, such as with: timedatectl set-ntp true"}
	aloneNow     = earshot.Notice{Key: "cluster members", Text: "no other daemon is heard of: if this one fails, nobody takes its rooms", Cure: "start another; if it runs, both need the same store.url and one bus"}
)

// watch reports the problems of the member as they come and go, until ctx ends.
func (c *clusterMember) watch(ctx context.Context) {
	company := time.Now()
	for pause(ctx, 2*cluster.TTL); ctx.Err() == nil; pause(ctx, cluster.Every) { // who starts has heard of nobody yet
		is := c.member.Condition()
		if len(c.member.Members()) > 1 || !is.Bus {
			company = time.Now()
		}
		now := make(map[string]earshot.Notice)
		for n, has := range map[earshot.Notice]bool{databaseAway: !is.Database, busAway: !is.Bus, sameName: is.SameName, wrongClock: c.member.Leases.Ahead().Abs() > time.Minute, aloneNow: time.Since(company) >= aloneAfter} {
			if has {
				now[n.Key] = n
			}
		}
		c.mu.Lock()
		last := c.problems
		c.problems = now
		c.mu.Unlock()
		for key, n := range now {
			if _, had := last[key]; !had {
				c.daemon.report(n)
			}
		}
		for key := range last {
			if _, has := now[key]; !has {
				c.daemon.report(earshot.Notice{Key: key, Over: true})
			}
		}
	}
}

// state returns how the cluster is.
func (c *clusterMember) state() api.Cluster {
	s := api.Cluster{Name: c.daemon.Config().Cluster.Name, Members: []api.ClusterMember{}}
	drains := c.member.Condition().Drains
	nobodys := make(map[string]bool)
	for _, room := range c.status().Rooms {
		nobodys[room] = true
	}
	for _, b := range c.member.Members() {
		m := api.ClusterMember{Name: b.Name(), Present: true, Build: b.Build, Age: b.Age, Load: b.Load, Drains: slices.Contains(drains, b.Name()), Rooms: []api.ClusterRoom{}}
		for _, room := range slices.Sorted(maps.Keys(b.Rooms)) {
			m.Rooms = append(m.Rooms, api.ClusterRoom{ID: earshot.RoomID(room), Fence: b.Rooms[room].Fence, Age: b.Rooms[room].Seconds})
			delete(nobodys, room)
		}
		s.Members = append(s.Members, m)
	}
	for _, name := range drains {
		if !slices.ContainsFunc(s.Members, func(m api.ClusterMember) bool { return m.Name == name }) {
			s.Members = append(s.Members, api.ClusterMember{Name: name, Drains: true, Rooms: []api.ClusterRoom{}})
		}
	}
	slices.SortStableFunc(s.Members, func(a, b api.ClusterMember) int { return cmp.Compare(a.Name, b.Name) })
	for _, room := range slices.Sorted(maps.Keys(nobodys)) {
		s.Nobodys = append(s.Nobodys, earshot.RoomID(room))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(c.problems)) {
		s.Problems = append(s.Problems, api.Obstacle{Part: key, Kind: api.Machine, Text: c.problems[key].Text, Cure: c.problems[key].Cure})
	}
	return s
}

// Cluster implements [server.Admin].
func (h backend) Cluster(context.Context) (api.Cluster, error) {
	if h.daemon.cluster == nil {
		return api.Cluster{}, errAlone
	}
	return h.daemon.cluster.state(), nil
}

// Drain implements [server.Admin].
func (h backend) Drain(ctx context.Context, r api.DrainRequest) (api.Cluster, error) {
	c := h.daemon.cluster
	if c == nil {
		return api.Cluster{}, errAlone
	}
	s := c.state()
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	if !slices.Contains(names, r.Member) {
		return s, fmt.Errorf("no daemon is called %q; there are: %s", r.Member, strings.Join(names, ", "))
	}
	if err := c.member.Leases.SetDrain(ctx, r.Member, r.Drains); err != nil {
		return s, err
	}
	h.daemon.log.Info("a daemon drains, or no longer", "member", r.Member, "drains", r.Drains)
	return c.state(), nil
}

// elsewhere returns the name of the daemon that has a room; "" if it is here, or nobody's.
func (d *Daemon) elsewhere(room executive.Room) string {
	if d.cluster == nil {
		return ""
	}
	id, here := d.cluster.member.Owner(string(room.ID))
	if here {
		return ""
	}
	return cluster.Heartbeat{ID: id}.Name()
}
