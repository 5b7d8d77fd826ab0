package main

import (
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

// A switching is a command that does what a /command does, from a shell or by a key of the
// desktop.
type switching struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
}

// The switchings.
type (
	muteCommand   struct{ switching }
	unmuteCommand struct{ switching }
	pauseCommand  struct{ switching }
	resumeCommand struct{ switching }
	stopCommand   struct{ switching }
)

func (c muteCommand) Run(a *app) error   { return c.does(a, "mute") }
func (c unmuteCommand) Run(a *app) error { return c.does(a, "unmute") }
func (c pauseCommand) Run(a *app) error  { return c.does(a, "pause") }
func (c resumeCommand) Run(a *app) error { return c.does(a, "resume") }
func (c stopCommand) Run(a *app) error   { return c.does(a, "stop") }

// does gives the /command, and says what the room lets in then.
func (c switching) does(a *app, command string) error {
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
