package main

import (
	"fmt"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/internal/terminal"
)

type whoCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	JSON bool           `help:"Print it as JSON."`
}

// Run says who is there, as far as the one who asks may know it.
func (w whoCommand) Run(a *app) error {
	_, s, err := a.reach(w.identityFlags, w.Room)
	if err != nil {
		return err
	}
	if w.JSON {
		return a.json(s)
	}
	for _, p := range s.Here {
		fmt.Fprintln(a.printed(), terminal.Safe(fmt.Sprintf("%-12s %s", p.Name, p.Description)))
	}
	for _, agent := range s.Agents {
		state := "agent"
		if len(s.Agents) > 1 {
			state += ", " + agent.State
		}
		fmt.Fprintln(a.printed(), terminal.Safe(fmt.Sprintf("%-12s %s", agent.Name, state)))
	}
	if s.Company != nil {
		now := time.Now()
		for _, line := range s.Company.Lines(now, scene.Age) {
			fmt.Fprintln(a.printed(), terminal.Safe(line))
		}
	}
	_, err = fmt.Fprintf(a.printed(), "The room is %s: %s.\n", s.Mode, s.Mode.Means())
	return err
}
