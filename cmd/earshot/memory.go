package main

import (
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/memory"
	"earshot/internal/terminal"
)

type memoryCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	JSON bool           `help:"Print facts as JSON, one event per line."`
	What []string       `arg:"" optional:"" help:"list (the default); all, also what was replaced or has expired; find WORDS; show N, with what it rests on; edit N TEXT; forget N."`
}

// Run shows what is remembered, or changes it.
func (m memoryCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	c, _, err := a.arrive(cfg, m.identityFlags, m.Room, false, a.enterAs(a.speaker()))
	if err != nil {
		return err
	}
	if m.JSON {
		m.What = slices.Insert(m.What, 0, memory.JSON)
	}
	answer, err := c.Do(a.ctx, "memory", earshot.Text(strings.Join(m.What, " ")))
	if err != nil {
		return err
	}
	if m.JSON {
		_, err = fmt.Fprint(a.out, answer)
		return err
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(answer))
	return err
}
