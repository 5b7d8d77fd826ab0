package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"earshot/config"
	"earshot/internal/completion"
	"earshot/participants"
)

// A helpCommand is the other way to write --help; [run] answers it.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as agents add."`
}

// asked reports whether it is what was chosen.
func (h helpCommand) asked(chosen *kong.Context) bool {
	first, _, _ := strings.Cut(chosen.Command(), " ")
	return first == "help"
}

// unknownIn returns why there is no command as a command line has it, with the one that was
// meant perhaps; else what is wrong with it.
func unknownIn(root *kong.Node, args []string, wrong error) error {
	t := completion.Line{Command: root}
	word := ""
	for i, w := range args {
		t = completion.Line{Command: root}
		if t.Walk(args[:i+1]); t.Args == 1 {
			word = w
		}
		if t.Args == 1 || len(t.Command.Children) == 0 {
			break
		}
	}
	if word == "" || len(t.Command.Children) == 0 {
		return wrong
	}
	var names []string
	for _, child := range t.Command.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	called := strings.TrimSpace("earshot " + t.Path)
	problem := fmt.Sprintf("unknown command %q", participants.OneLine(word))
	if near, ok := config.Nearest(word, names); ok {
		return fmt.Errorf("%s; did you mean %q?", problem, strings.TrimSpace(t.Path+" "+near))
	}
	return errors.New(problem + "\n  → see: " + called + " --help")
}
