package main

import (
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

type tasksCommand struct {
	modeCommand
	What []string `arg:"" optional:"" help:"list (the default); start GOAL; show N; answer N TEXT; steer N TEXT, what else to mind; pause N; resume N; cancel N."`
}

// Run asks for tasks, or changes one, as /task does.
func (t tasksCommand) Run(a *app) error {
	client, _, err := a.reach(t.identityFlags, t.Room)
	if err != nil {
		return err
	}
	answer, err := client.Do(a.ctx, "task", earshot.Text(strings.Join(t.What, " ")))
	if err == nil {
		_, err = fmt.Fprintln(a.printed(), terminal.Safe(answer))
	}
	return err
}
