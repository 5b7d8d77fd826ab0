package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot/api"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/server/client"
)

type clusterCommand struct {
	Status clusterStatus `cmd:"" default:"withargs" help:"Show the daemons, and which of them has which room."`
	Drain  clusterDrain  `cmd:"" help:"Have a daemon give its rooms away and take none, also after a restart. Ends when it has none."`
}

// cluster returns the client of the daemon here. It asks for no room, so that it works while nobody has
// the desk.
func (a *app) cluster(i identityFlags) (*client.Client, error) {
	cfg, err := a.asking()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Socket: cfg.Server.Path(), URL: a.API, Identity: i.Identity}
	if i.Identity != "" || a.API != "" {
		c.Token, err = a.secret()
	}
	return c, err
}

type clusterStatus struct {
	identityFlags
	JSON bool `help:"Print it as JSON."`
}

// Run shows the daemons.
func (c clusterStatus) Run(a *app) error {
	client, err := a.cluster(c.identityFlags)
	if err != nil {
		return err
	}
	s, err := client.Cluster(a.ctx)
	if err != nil {
		return a.unreached(err)
	}
	if c.JSON {
		return a.json(s)
	}
	t, print := a.table()
	fmt.Fprintln(t, "DAEMON\tSTATE\tFOR\tLOAD\tVERSION\tROOMS (FENCE)")
	for _, m := range s.Members {
		var rooms []string
		for _, r := range m.Rooms {
			rooms = append(rooms, fmt.Sprintf("%s (%d)", r.ID, r.Fence))
		}
		name, state := m.Name, "takes rooms"
		if name == s.Name {
			name += ", here"
		}
		switch {
		case !m.Present:
			fmt.Fprintf(t, "%s\taway, drains\n", terminal.Safe(name))
			continue
		case m.Drains && len(rooms) > 0:
			state = "drains"
		case m.Drains:
			state = "is drained"
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%.0f %%\t%s\t%s\n", terminal.Safe(name), state, time.Duration(m.Age)*time.Second, 100*m.Load, terminal.Safe(m.Build), terminal.Safe(cmp.Or(strings.Join(rooms, ", "), "none")))
	}
	err = print()
	for _, room := range s.Nobodys {
		fmt.Fprintf(a.printed(), "✗ nobody has the room %s at present\n", terminal.Safe(string(room)))
	}
	for _, p := range s.Problems {
		fmt.Fprintf(a.printed(), "✗ %s\n  → %s\n", p.Text, p.Cure)
	}
	return err
}

type clusterDrain struct {
	identityFlags
	Name   string        `arg:"" help:"The daemon (cluster.name)."`
	Off    bool          `help:"Undo it: it takes rooms again."`
	Within time.Duration `default:"1m" help:"How long to wait until it has no room."`
	JSON   bool          `help:"Print how the daemons are then as JSON."`
}

// drainEvery is how often it is asked which rooms are left.
const drainEvery = 250 * time.Millisecond

// Run drains a daemon, and says on standard error which rooms are left as that changes.
func (c clusterDrain) Run(a *app) error {
	client, err := a.cluster(c.identityFlags)
	if err != nil {
		return err
	}
	began := time.Now()
	s, err := client.Drain(a.ctx, api.DrainRequest{Member: c.Name, Drains: !c.Off})
	if err != nil {
		is, problem := client.Cluster(a.ctx)
		if problem == nil && !slices.ContainsFunc(is.Members, func(m api.ClusterMember) bool { return m.Name == c.Name }) {
			return &verdict{notFound, err}
		}
		return a.unreached(err)
	}
	left, had := c.left(s), c.left(s)
	for told := []string(nil); !c.Off && len(left) > 0; left = c.left(s) {
		if !slices.Equal(told, left) {
			fmt.Fprintf(a.told(), "%s still has %s: %s\n", terminal.Safe(c.Name), english.Count(len(left), "room"), terminal.Safe(strings.Join(left, ", ")))
			told = left
		}
		if time.Since(began) >= c.Within {
			return fmt.Errorf("%s still has rooms after %v, and goes on with them until another daemon takes them\n  → see which could: earshot cluster status; or undo it: earshot cluster drain %[1]s --off", terminal.Safe(c.Name), c.Within)
		}
		select {
		case <-time.After(drainEvery):
		case <-a.ctx.Done():
			return errors.New("it drains all the same\n  → to undo it: earshot cluster drain " + terminal.Safe(c.Name) + " --off")
		}
		if next, err := client.Cluster(a.ctx); err == nil { // or that one may be on its way, too
			s = next
		} else if a.ctx.Err() == nil && time.Since(began) >= c.Within {
			return err
		}
	}
	if c.JSON {
		return a.json(s)
	}
	text := "takes rooms again"
	if !c.Off {
		text = fmt.Sprintf("has no rooms, and takes none until: earshot cluster drain %s --off", c.Name)
		if len(had) > 0 {
			text = fmt.Sprintf("gave %s away in %.1f s. It takes none until: earshot cluster drain %s --off", english.Count(len(had), "room"), time.Since(began).Seconds(), c.Name)
		}
	}
	_, err = fmt.Fprintf(a.printed(), "%s %s\n", terminal.Safe(c.Name), terminal.Safe(text))
	return err
}

// left returns the rooms that the daemon has.
func (c clusterDrain) left(s api.Cluster) (rooms []string) {
	for _, m := range s.Members {
		for _, r := range m.Rooms {
			if m.Name == c.Name {
				rooms = append(rooms, string(r.ID))
			}
		}
	}
	return rooms
}
