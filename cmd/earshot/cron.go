package main

import (
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

type cronCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	What []string       `arg:"" optional:"" help:"list (the default); add WHEN WHAT, such as: add weekday at 7:30 tell me what is due; show, run, pause, resume or remove N."`
}

// Run does what /every does, from a shell.
func (c cronCommand) Run(a *app) error {
	client, _, err := a.reach(c.identityFlags, c.Room)
	if err != nil {
		return err
	}
	answer, err := client.Do(a.ctx, "every", earshot.Text(strings.Join(c.What, " ")))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(answer))
	return err
}
