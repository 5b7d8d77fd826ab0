package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/cluster"
	"earshot/internal/wait"
)

// aloneAfter is for how long a daemon must be alone to say so: longer than another takes to start again.
const aloneAfter = 15 * time.Second

// The problems of a member, each with what mends it.
var (
	databaseAway = earshot.Notice{Key: "cluster database", Text: "the database that the daemons share does not answer, so no room can be here", Cure: "start PostgreSQL, or mend the way to it (store.url)"}
	busAway      = earshot.Notice{Key: "cluster bus", Text: "the bus passes nothing on, so other daemons and satellites are not heard of", Cure: "look at its servers (bus.listen, bus.cluster, bus.servers), and at the network"}
	sameName     = earshot.Notice{Key: "cluster name", Text: "two daemons have the same cluster.name", Cure: "give each daemon a name of its own, and start it again"}
	wrongClock   = earshot.Notice{Key: "cluster clock", Text: "the clock of this machine is more than a minute away from that of the database", Cure: "set the one that is wrong, such as with: timedatectl set-ntp true"}
	aloneNow     = earshot.Notice{Key: "cluster members", Text: "no other daemon is heard of: if this one fails, nobody takes its rooms", Cure: "start another; if it runs, both need the same store.url and one bus"}
)

// watch reports the problems of the member as they come and go, until ctx ends.
func (m *Membership) watch(ctx context.Context) {
	company := time.Now()
	for wait.For(ctx, 2*cluster.TTL); ctx.Err() == nil; wait.For(ctx, cluster.Every) { // who starts has heard of nobody yet
		is := m.Condition()
		if len(m.Members()) > 1 || !is.Bus {
			company = time.Now()
		}
		now := make(map[string]earshot.Notice)
		for n, has := range map[earshot.Notice]bool{databaseAway: !is.Database, busAway: !is.Bus, sameName: is.SameName || m.namesake(), wrongClock: m.Leases.Ahead().Abs() > time.Minute, aloneNow: time.Since(company) >= aloneAfter} {
			if has {
				now[n.Key] = n
			}
		}
		m.mu.Lock()
		for room, f := range m.failed {
			switch {
			case time.Since(f.last) > 3*cluster.TTL: // it is tried more often: another daemon has it
				delete(m.failed, room)
			case f.last.Sub(f.first) >= cluster.TTL: // who starts may lack what others are about to do
				now[f.notice.Key] = f.notice
			}
		}
		last := m.problems
		m.problems = now
		m.mu.Unlock()
		for key, n := range now {
			if _, had := last[key]; !had {
				m.with.Report(n)
			}
		}
		for key, n := range last {
			if _, has := now[key]; !has {
				m.with.Report(earshot.Notice{Key: key, Text: "this is over: " + n.Text, Over: true})
			}
		}
	}
}

// namesake reports whether two members have one name, longer than an earlier process of one of them is remembered.
func (m *Membership) namesake() bool {
	names := make(map[string]bool)
	for _, b := range m.Members() {
		if b.Age < int(2*cluster.TTL/time.Second) {
			continue
		}
		if names[b.Name()] {
			return true
		}
		names[b.Name()] = true
	}
	return false
}

// A failedRoom is a room that cannot begin here, which is tried again every few seconds.
type failedRoom struct {
	first, last time.Time
	notice      earshot.Notice
}

// Began notes whether a room, or a shard, has begun here. An error while it is wanted is logged once, and
// told if it lasts.
func (m *Membership) Began(room string, err error, wanted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, had := m.failed[room]
	switch {
	case err == nil:
		delete(m.failed, room)
	case wanted:
		if is.last = time.Now(); !had {
			is.first = is.last
			m.Log.Error("a room cannot begin here", "room", room, "err", err)
		}
		text, cure := earshot.Explain(err)
		is.notice = earshot.Notice{Key: "room " + room, Text: "the room " + room + " cannot begin here: " + text, Cure: cmp.Or(cure, "look into the log of this daemon, or have it give its rooms away: earshot cluster drain")}
		m.failed[room] = is
	}
}

// State returns how the cluster is.
func (m *Membership) State() api.Cluster {
	s := api.Cluster{Name: m.with.Settings().Cluster.Name, Members: []api.ClusterMember{}}
	drains := m.Condition().Drains
	nobodys := make(map[string]bool)
	for _, room := range m.status().Rooms {
		nobodys[room] = true
	}
	for _, b := range m.Members() {
		is := api.ClusterMember{Name: b.Name(), Present: true, Build: b.Build, Age: b.Age, Load: b.Load, Drains: slices.Contains(drains, b.Name()), Rooms: []api.ClusterRoom{}}
		for _, room := range slices.Sorted(maps.Keys(b.Rooms)) {
			is.Rooms = append(is.Rooms, api.ClusterRoom{ID: earshot.RoomID(room), Fence: b.Rooms[room].Fence, Age: b.Rooms[room].Seconds})
			delete(nobodys, room)
		}
		s.Members = append(s.Members, is)
	}
	for _, name := range drains {
		if !slices.ContainsFunc(s.Members, func(is api.ClusterMember) bool { return is.Name == name }) {
			s.Members = append(s.Members, api.ClusterMember{Name: name, Drains: true, Rooms: []api.ClusterRoom{}})
		}
	}
	slices.SortStableFunc(s.Members, func(a, b api.ClusterMember) int { return cmp.Compare(a.Name, b.Name) })
	for _, room := range slices.Sorted(maps.Keys(nobodys)) {
		s.Nobodys = append(s.Nobodys, earshot.RoomID(room))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.problems)) {
		s.Problems = append(s.Problems, api.Obstacle{Part: key, Kind: api.Machine, Text: m.problems[key].Text, Cure: m.problems[key].Cure})
	}
	return s
}

// Drain has a daemon give its rooms away, or take some again, and returns how the cluster is then.
func (m *Membership) Drain(ctx context.Context, r api.DrainRequest) (api.Cluster, error) {
	s := m.State()
	var names []string
	for _, is := range s.Members {
		names = append(names, is.Name)
	}
	if !slices.Contains(names, r.Member) {
		return s, fmt.Errorf("no daemon is called %q; there are: %s", r.Member, strings.Join(names, ", "))
	}
	ctx, stop := context.WithTimeout(ctx, cluster.TTL) // a database that is away is waited for otherwise
	defer stop()
	if err := m.Leases.SetDrain(ctx, r.Member, r.Drains); err != nil {
		if ctx.Err() != nil {
			err = errors.New("the database that the daemons share does not answer, so nothing was changed; " + databaseAway.Cure)
		}
		return s, err
	}
	m.Log.Info("a daemon drains, or no longer", "member", r.Member, "drains", r.Drains)
	return m.State(), nil
}
