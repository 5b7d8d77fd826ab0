package main

import (
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
)

type memoryCommand struct {
	List   memoryList   `cmd:"" default:"withargs" help:"List what is remembered, with its numbers."`
	Find   memoryFind   `cmd:"" help:"Find what is remembered by words."`
	Show   memoryShow   `cmd:"" help:"Show what something remembered rests on."`
	Edit   memoryEdit   `cmd:"" help:"Say what is true instead; what was thought before stays on record."`
	Forget memoryForget `cmd:"" help:"Forget something remembered, with the replies that knew of it."`
}

// A memoryRoom is where something is remembered.
type memoryRoom struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
}

// do asks the earshot that runs, and prints the answer.
func (m memoryRoom) do(a *app, words ...string) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	c, _, err := a.arrive(cfg, m.identityFlags, m.Room, false, a.enterAs(a.speaker()))
	if err != nil {
		return err
	}
	answer, err := c.Do(a.ctx, "memory", earshot.Text(strings.Join(words, " ")))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(answer))
	return err
}

type memoryList struct {
	memoryRoom
	All bool `help:"Also what was replaced or has expired."`
}

// Run lists what is remembered.
func (m memoryList) Run(a *app) error {
	if m.All {
		return m.do(a, "all")
	}
	return m.do(a, "list")
}

type memoryFind struct {
	memoryRoom
	Words []string `arg:"" help:"The words."`
}

// Run lists what has to do with some words.
func (m memoryFind) Run(a *app) error { return m.do(a, append([]string{"find"}, m.Words...)...) }

type memoryShow struct {
	memoryRoom
	Number string `arg:"" name:"n" help:"Its number in the list."`
}

// Run shows a fact and what it rests on.
func (m memoryShow) Run(a *app) error { return m.do(a, "show", m.Number) }

type memoryEdit struct {
	memoryRoom
	Number string   `arg:"" name:"n" help:"Its number in the list."`
	Text   []string `arg:"" help:"What is true instead."`
}

// Run replaces a fact.
func (m memoryEdit) Run(a *app) error {
	return m.do(a, append([]string{"edit", m.Number}, m.Text...)...)
}

type memoryForget struct {
	memoryRoom
	Number string `arg:"" name:"n" help:"Its number in the list."`
}

// Run forgets a fact.
func (m memoryForget) Run(a *app) error { return m.do(a, "forget", m.Number) }
