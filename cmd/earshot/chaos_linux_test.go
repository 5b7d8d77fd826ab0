package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/api"
	"earshot/cluster"
	"earshot/internal/testkit"
	"earshot/internal/testkit/history"
	"earshot/internal/testkit/netlab"
	"earshot/internal/testkit/pgtest"
)

// posts has a question posted by one daemon after the other until one has acknowledged it, or ctx ends.
func (c *trio) posts(ctx context.Context, i int, room earshot.RoomID, text earshot.Text) {
	id := earshot.EventID(ulid.Make().String())
	c.record(history.Sent, room, id)
	for ; ctx.Err() == nil; i++ {
		bounded, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, err := c.at(i%len(members), room).Post(bounded, id, text)
		cancel()
		if err == nil {
			c.record(history.Acknowledged, room, id)
			c.record(history.Asked, room, id)
			return
		}
		wait(ctx, 50*time.Millisecond)
	}
}

// acknowledgements counts what is acknowledged in a room.
func (c *trio) acknowledgements(room earshot.RoomID) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.records {
		if r.Kind == history.Acknowledged && r.Room == string(room) {
			n++
		}
	}
	return n
}

// healthy waits until what is said from now on is acknowledged in all rooms, and returns for how long.
func (c *trio) healthy() time.Duration {
	c.t.Helper()
	began, before := time.Now(), make(map[earshot.RoomID]int)
	for _, room := range rooms {
		before[room] = c.acknowledgements(room)
	}
	testkit.Await(c.t, 2*testkit.Patience, "all rooms take in what is said", func() bool {
		return !slices.ContainsFunc(rooms, func(room earshot.RoomID) bool { return c.acknowledgements(room) < before[room]+2 })
	})
	return time.Since(began)
}

// people has people ask in all rooms by all daemons, and others read the answers there by two of them, until
// leave is called.
func (c *trio) people() (leave func()) {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, room := range rooms {
		c.attaches(i, room)
		c.attaches(i+1, room)
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				c.posts(c.t.Context(), n, room, earshot.Text(fmt.Sprintf("how is it for the %dth time?", n)))
				wait(ctx, 400*time.Millisecond)
			}
		})
	}
	leave = sync.OnceFunc(func() {
		stop()
		testkit.Finish(c.t, 2*testkit.Patience, "the end of the people", all.Wait)
	})
	c.t.Cleanup(leave)
	return leave
}

// busServer returns the process of the bus of a daemon, or 0 while there is none.
func (c *trio) busServer(i int) int {
	pid := c.daemons[i].Process.Pid
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		for _, child := range strings.Fields(string(children)) {
			if name, _ := os.ReadFile("/proc/" + child + "/comm"); strings.HasPrefix(string(name), "earshot-bus") {
				n, _ := strconv.Atoi(child)
				return n
			}
		}
	}
	return 0
}

// A chaos is a trio to which disasters happen.
type chaos struct {
	*trio
	chance *rand.Rand
	ahead  []time.Duration // the clock of each daemon
	lab    *netlab.Lab     // nil where there can be none
	cuts   map[string][]cut
}

// A cut is one that can be made in the network.
type cut struct {
	name string
	link netlab.Link
}

// newChaos starts a trio, with a network in which each daemon, PostgreSQL and its standby have a host of their
// own if this process may make one.
func newChaos(t *testing.T, chance *rand.Rand) *chaos {
	t.Helper()
	c := &chaos{chance: chance, ahead: make([]time.Duration, len(members))}
	if os.Geteuid() != 0 || strings.Contains(os.Getenv("EARSHOT_WITHOUT"), "network") {
		t.Log("NOT TESTED: daemons that are cut off; root alone can make a network for that")
		var listen, routes []string
		for range members {
			listen, routes = append(listen, freeAddress(t)), append(routes, freeAddress(t))
		}
		first := pgtest.Start(t, settings)
		c.trio = newTrioAt(t, listen, routes, func(i int, p *exec.Cmd) error { return startAhead(p, c.ahead[i]) }, first, first.Standby(t, settings))
		return c
	}
	c.lab = netlab.New(t, append([]string{"first", "second"}, members...)...)
	host := func(name string) pgtest.Host {
		return pgtest.Host{Address: c.lab.Addr(name), In: func(start func()) { c.lab.In(name, start) }}
	}
	var listen, routes []string
	for _, m := range members {
		listen, routes = append(listen, c.lab.Addr(m)+":4223"), append(routes, c.lab.Addr(m)+":6222")
	}
	first := pgtest.StartOn(t, host("first"), settings)
	second := first.StandbyOn(t, host("second"), settings)
	c.trio = newTrioAt(t, listen, routes, func(i int, p *exec.Cmd) (err error) {
		c.lab.In(members[i], func() { err = startAhead(p, c.ahead[i]) })
		return err
	}, first, second)
	c.cuts = make(map[string][]cut)
	for i, m := range members {
		add := func(kind, other string, there, back netlab.Link) {
			c.cuts[kind] = append(c.cuts[kind], cut{m + " and " + other, append(there[:len(there):len(there)], back...)}, cut{m + " to " + other, there}, cut{other + " to " + m, back})
		}
		other := members[(i+1)%len(members)]
		add(otherDaemon, other, c.lab.Way(m, other), c.lab.Way(other, m))
		add(theDatabase, "the database", append(c.lab.Way(m, "first"), c.lab.Way(m, "second")...), append(c.lab.Way("first", m), c.lab.Way("second", m)...))
		c.cuts[allOthers] = append(c.cuts[allOthers], cut{m, c.lab.Links(m)})
	}
	for _, all := range c.cuts {
		chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return c
}

// From what a daemon is cut off.
const (
	otherDaemon = "another daemon"
	theDatabase = "the database"
	allOthers   = "all others"
)

// isolates cuts one daemon after the other off from something. What people say is taken in meanwhile.
func (c *chaos) isolates(from string) {
	c.t.Helper()
	all := c.cuts[from]
	is := all[0]
	c.cuts[from] = append(all[1:], is)
	before := is.link.Count().Cut
	is.link.Cut()
	<-time.After(2 * cluster.TTL) // in which the others are taken to be away
	during := c.healthy()
	if is.link.Count().Cut == before {
		c.t.Errorf("%s cut off: nothing was on the way", is.name)
	}
	is.link.Heal()
	c.t.Logf("%.1f s: %s cut off: taken in after %v more", time.Since(c.began).Seconds(), is.name, during.Round(time.Millisecond))
}

// A disaster is something that happens to a trio, and is over when it returns.
type disaster struct {
	name    string
	network bool // it needs one
	strike  func(c *chaos)
}

// disasters are all that there are.
var disasters = []disaster{
	{"clocks 10 minutes apart", false, func(c *chaos) {
		apart, first := []time.Duration{10 * time.Minute, -10 * time.Minute, 0}, c.chance.IntN(len(members))
		if slices.Max(c.ahead) > 0 { // and the next time they are right again
			apart = make([]time.Duration, len(members))
		}
		for i, ahead := range apart {
			if i = (first + i) % len(members); c.ahead[i] != ahead {
				c.kill(i)
				c.healthy()
				c.ahead[i] = ahead
				c.start(i)
			}
		}
		for i, ahead := range c.ahead {
			c.tellsClock(i, ahead != 0)
		}
	}},
	{"kill -9 of an owner", false, func(c *chaos) {
		c.spread()
		i := max(c.owner("kitchen"), 0)
		c.kill(i)
		c.healthy()
		c.start(i)
	}},
	{"cut off from the database", true, func(c *chaos) { c.isolates(theDatabase) }},
	{"kill -9 of a server of the bus", false, func(c *chaos) {
		if pid := c.busServer(c.chance.IntN(len(members))); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}},
	{"cut off from another daemon", true, func(c *chaos) { c.isolates(otherDaemon) }},
	{"a pause", false, func(c *chaos) {
		p := c.daemons[c.chance.IntN(len(members))].Process
		_ = p.Signal(syscall.SIGSTOP)
		<-time.After(time.Duration(times(5, 30)) * time.Second)
		_ = p.Signal(syscall.SIGCONT)
	}},
	{"cut off from all others", true, func(c *chaos) { c.isolates(allOthers) }},
	{"kill -9 of PostgreSQL", false, func(c *chaos) {
		c.servers[0].Kill(c.t)
		c.servers[0].Resume(c.t, settings)
	}},
	{"delay and loss", true, func(c *chaos) {
		c.lab.Links().Set(netlab.Condition{Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02, Seed: c.chance.Uint64()})
		c.lab.Links(members[c.chance.IntN(len(members))]).Set(netlab.Condition{Delay: 100 * time.Millisecond, Jitter: 100 * time.Millisecond, Loss: 0.05, Seed: c.chance.Uint64()})
		c.healthy()
		c.lab.Links().Set(netlab.Condition{})
	}},
	{"kill -9 of PostgreSQL, and its standby takes over", false, func(c *chaos) {
		c.servers[0].Kill(c.t)
		c.servers[1].Promote(c.t)
		c.servers[0], c.servers[1] = c.servers[1], c.servers[0]
		c.healthy()
		c.servers[1].Follow(c.t, c.servers[0], settings)
	}},
}

// settings are those of PostgreSQL, for three daemons.
const settings = "max_connections=200"

// TestChaos: while people ask in all rooms by all daemons, one thing after the other goes wrong. No question
// that was acknowledged is lost, doubled or out of order, each is answered once or somebody is told that it
// is not, no two voices are heard in one room at once, and nobody writes or speaks whose lease is over.
func TestChaos(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newChaos(t, rand.New(rand.NewPCG(seed, 1)))
	leave := c.people()
	c.healthy()
	took := make(map[string][]time.Duration)
	some := slices.DeleteFunc(slices.Clone(disasters), func(d disaster) bool { return d.network && c.lab == nil })
	rounds := times(len(some), 200)
	if more, err := strconv.Atoi(os.Getenv("EARSHOT_CHAOS")); err == nil {
		rounds = more
	}
	for round := range rounds {
		d := some[round%len(some)]
		t.Logf("%.1f s: %s", time.Since(c.began).Seconds(), d.name)
		began := time.Now()
		d.strike(c)
		c.healthy()
		took[d.name] = append(took[d.name], time.Since(began))
	}
	leave()
	for name, all := range took {
		t.Logf("%s: %d times, until all is well: %s", name, len(all), quantiles(all))
	}
	c.check()
	c.checkPlanted()
	count := make(map[string]int)
	for _, r := range c.history(c.journal()) {
		count[r.Kind]++
	}
	t.Logf("%v", count)
	if heard := count[history.Begun]; count[history.Answered] < count[history.Acknowledged]/2 || heard < count[history.Answered]/4 {
		t.Errorf("too little was answered, or heard: %v", count)
	}
	var early, late time.Time
	for _, e := range c.journal() {
		if early.IsZero() || e.At.Before(early) {
			early = e.At
		}
		if e.At.After(late) {
			late = e.At
		}
	}
	if wrong := late.Sub(early) - time.Since(c.began); wrong > testkit.Patience {
		t.Errorf("times on record differ by %v more than they should", wrong)
	}
}

// tellsClock waits until a daemon says that its clock is wrong, or no longer does.
func (c *trio) tellsClock(i int, wrong bool) {
	c.t.Helper()
	testkit.Await(c.t, testkit.Patience, fmt.Sprintf("whether the clock of %s is wrong is told, which is %v", members[i], wrong), func() bool {
		s, err := c.homes[i].client().Cluster(c.t.Context())
		return err == nil && wrong == slices.ContainsFunc(s.Problems, func(o api.Obstacle) bool { return o.Part == "cluster clock" })
	})
}

// TestClusterClocks: what [TestClusterKill] shows is the same where each daemon has another time than the others.
func TestClusterClocks(t *testing.T) {
	var listen, routes []string
	for range members {
		listen, routes = append(listen, freeAddress(t)), append(routes, freeAddress(t))
	}
	ahead := []time.Duration{10 * time.Minute, -10 * time.Minute, 0}
	c := newTrioAt(t, listen, routes, func(i int, p *exec.Cmd) error { return startAhead(p, ahead[i]) }, pgtest.Start(t, settings))
	c.killsOwners(times(3, 50))
	for i, d := range ahead {
		c.tellsClock(i, d != 0)
	}
}

// checkPlanted checks that faults are found that are planted in what was seen.
func (c *trio) checkPlanted() {
	c.t.Helper()
	good := c.history(c.journal())
	first := func(kind string) history.Record {
		return good[slices.IndexFunc(good, func(r history.Record) bool { return r.Kind == kind })]
	}
	with := func(more ...history.Record) []history.Record { return append(slices.Clone(good), more...) }
	without := func(id string, kinds ...string) []history.Record {
		return slices.DeleteFunc(slices.Clone(good), func(r history.Record) bool { return r.ID == id && slices.Contains(kinds, r.Kind) })
	}
	voice, last := first(history.Begun), first(history.Read)
	for _, r := range good {
		if r.Room == last.Room && (r.Kind == history.Read || r.Kind == history.Begun) && r.Fence >= last.Fence {
			last = r
		}
	}
	other := func(r history.Record, change func(*history.Record)) history.Record {
		r.ID = "another"
		change(&r)
		return r
	}
	for _, tt := range []struct {
		kind    string
		planted []history.Record
	}{
		{history.Lost, without(first(history.Acknowledged).ID, history.Read)},
		{history.Doubled, with(first(history.Read))},
		{history.AnsweredTwice, with(first(history.Answered))},
		{history.Unanswered, without(first(history.Answered).ID, history.Answered, history.Told)},
		{history.TwoVoices, with(other(voice, func(r *history.Record) { r.At++ }))},
		{history.TwoVoices, with(other(voice, func(r *history.Record) { r.At++; r.Outlet = "elsewhere" }))},
		{history.Stale, with(other(last, func(r *history.Record) {
			r.Kind, r.At, r.Outlet = history.Begun, time.Since(c.began), "elsewhere"
			r.Fence--
		}))},
		{history.Stale, with(other(last, func(r *history.Record) { r.Kind = history.Read; r.Fence-- }))},
		{history.TwoOwners, with(other(last, func(r *history.Record) { r.Kind, r.Owner = history.Read, "another" }))},
	} {
		if !slices.ContainsFunc(history.Check(tt.planted), func(f history.Fault) bool { return f.Kind == tt.kind }) {
			c.t.Errorf("a fault is not found: %s", tt.kind)
		}
	}
}
