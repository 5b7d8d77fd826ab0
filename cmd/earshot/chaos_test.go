package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/testkit"
	"earshot/internal/testkit/history"
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

// people has people ask in all rooms by all daemons, and others read the answers there, until leave is
// called.
func (c *trio) people() (leave func()) {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, room := range rooms {
		c.attaches(i, room)
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

// A disaster is something that happens to a trio, and is over when it returns.
type disaster struct {
	name   string
	strike func(c *trio, chance *rand.Rand)
}

// disasters are all that there are.
var disasters = []disaster{
	{"kill -9 of an owner", func(c *trio, _ *rand.Rand) {
		c.spread()
		i := c.owner("kitchen")
		if i < 0 {
			i = 0
		}
		c.kill(i)
		c.healthy()
		c.start(i)
	}},
	{"kill -9 of a server of the bus", func(c *trio, chance *rand.Rand) {
		if pid := c.busServer(chance.IntN(len(members))); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}},
	{"a pause", func(c *trio, chance *rand.Rand) {
		p := c.daemons[chance.IntN(len(members))].Process
		_ = p.Signal(syscall.SIGSTOP)
		<-time.After(time.Duration(times(5, 30)) * time.Second)
		_ = p.Signal(syscall.SIGCONT)
	}},
	{"kill -9 of PostgreSQL", func(c *trio, _ *rand.Rand) {
		c.servers[0].Kill(c.t)
		c.servers[0].Resume(c.t, settings)
	}},
	{"kill -9 of PostgreSQL, and its standby takes over", func(c *trio, _ *rand.Rand) {
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
// is not, and no two voices are heard in one room at once.
func TestChaos(t *testing.T) {
	first := pgtest.Start(t, settings)
	c := newTrio(t, first, first.Standby(t, settings))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	leave := c.people()
	c.healthy()
	took := make(map[string][]time.Duration)
	rounds := times(len(disasters), 200)
	if more, err := strconv.Atoi(os.Getenv("EARSHOT_CHAOS")); err == nil {
		rounds = more
	}
	for round := range rounds {
		d := disasters[round%len(disasters)]
		began := time.Now()
		d.strike(c, chance)
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
}

// checkPlanted checks that faults are found that are planted in what was seen.
func (c *trio) checkPlanted() {
	c.t.Helper()
	good := c.history(c.journal())
	first := func(kind string) int {
		return slices.IndexFunc(good, func(r history.Record) bool { return r.Kind == kind })
	}
	for kind, plant := range map[string]func() []history.Record{
		history.Lost: func() []history.Record {
			id := good[first(history.Acknowledged)].ID
			return slices.DeleteFunc(slices.Clone(good), func(r history.Record) bool { return r.Kind == history.Read && r.ID == id })
		},
		history.Doubled:       func() []history.Record { return append(slices.Clone(good), good[first(history.Read)]) },
		history.AnsweredTwice: func() []history.Record { return append(slices.Clone(good), good[first(history.Answered)]) },
		history.Unanswered: func() []history.Record {
			id := good[first(history.Answered)].ID
			return slices.DeleteFunc(slices.Clone(good), func(r history.Record) bool {
				return (r.Kind == history.Answered || r.Kind == history.Told) && r.ID == id
			})
		},
		history.TwoVoices: func() []history.Record {
			v := good[first(history.Begun)]
			again := v
			again.ID, again.At = "another", v.At+1
			return append(slices.Clone(good), again)
		},
	} {
		if !slices.ContainsFunc(history.Check(plant()), func(f history.Fault) bool { return f.Kind == kind }) {
			c.t.Errorf("a fault is not found: %s", kind)
		}
	}
}
