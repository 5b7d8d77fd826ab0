package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"earshot"
	"earshot/internal/terminal"
)

// A modeCommand does what the /command of its name does, from a shell or by a key of the desktop.
type modeCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
}

// Run gives the /command, and says what the room lets in then.
func (c modeCommand) Run(a *app, chosen *kong.Context) error {
	command := chosen.Command()
	client, _, err := a.reach(c.identityFlags, c.Room)
	if err != nil {
		return err
	}
	answer, err := client.Do(a.ctx, command, "")
	if err != nil && strings.Contains(err.Error(), resumeHint) {
		return errors.New(inShell(err.Error()))
	}
	if err != nil || command == "stop" {
		return err
	}
	if answer == "" {
		s, err := state(a.ctx, client)
		if err != nil {
			return err
		}
		answer = fmt.Sprintf("The room is %s: %s.", s.Mode, s.Mode.Means())
	}
	_, err = fmt.Fprintln(a.printed(), inShell(terminal.Safe(answer)))
	return err
}

// resumeHint is how a room says what ends its mode.
const resumeHint = "/resume ends th"

// inShell returns what a room says about its mode, with the command that a shell knows.
func inShell(text string) string {
	return strings.ReplaceAll(text, resumeHint, "earshot resume ends th")
}

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
