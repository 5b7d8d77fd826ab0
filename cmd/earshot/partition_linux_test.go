package main

import (
	"os/exec"
	"testing"
	"time"

	"earshot/cluster"
	"earshot/internal/testkit/netlab"
	"earshot/internal/testkit/pgtest"
)

// TestClusterPartitions: daemons whose buses cannot reach each other, each pair and each daemon alone, go on
// with their rooms, of which none has two owners.
func TestClusterPartitions(t *testing.T) {
	lab := netlab.New(t, members...)
	var listen, routes []string
	for _, m := range members {
		listen, routes = append(listen, lab.Addr(m)+":4223"), append(routes, lab.Addr(m)+":6222")
	}
	in := func(member, name string, args ...string) *exec.Cmd {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return lab.Command(member, path, args...)
	}
	c := newTrioAt(t, listen, routes, in, pgtest.Start(t, settings))
	leave := c.people()
	c.healthy()
	cuts := []struct {
		name string
		link netlab.Link
	}{
		{"a and b", lab.Link("a", "b")}, {"c", lab.Links("c")}, {"b and c", lab.Link("b", "c")},
		{"c and a", lab.Link("c", "a")}, {"a", lab.Links("a")}, {"b", lab.Links("b")},
	}
	for round := range times(2, 20*len(cuts)) {
		cut := cuts[round%len(cuts)]
		lost := cut.link.Count().Cut
		cut.link.Cut()
		<-time.After(2 * cluster.TTL) // in which the others are taken to be away
		during := c.healthy()
		if cut.link.Count().Cut == lost {
			t.Errorf("%s cut off: nothing was on the way", cut.name)
		}
		cut.link.Heal()
		t.Logf("%s cut off: questions are taken in after %v, and once it is healed after %v", cut.name, during, c.healthy())
	}
	leave()
	c.check()
}
