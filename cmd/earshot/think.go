package main

import (
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

type thinkCommand struct {
	identityFlags
	Room     earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	Question []string       `arg:"" optional:"" help:"What to think about; show (the default) prints the thinking, stop ends it."`
}

// Run shows what is thought, ends it, or asks for thought. What comes of that is said
// in the room.
func (t thinkCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	text := strings.Join(t.Question, " ")
	if text == "show" {
		text = ""
	}
	says := text != "" && text != "stop"
	c, _, err := a.arrive(cfg, t.identityFlags, t.Room, says, a.enterAs(a.speaker()))
	if err != nil {
		return err
	}
	answer, err := c.Do(a.ctx, "think", earshot.Text(text))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(answer))
	return err
}
