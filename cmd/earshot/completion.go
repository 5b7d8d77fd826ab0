package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot/api"
	"earshot/config"
	"earshot/internal/completion"
	"earshot/server/client"
)

// The completion is our own, and short: the libraries for kong lean on one that speaks to
// bash alone, and can neither say what a word is for nor ask a daemon who is there.

// whoIsThere is how long a daemon is asked, while somebody waits for a completion.
const whoIsThere = 300 * time.Millisecond

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell: bash, zsh or fish."`
}

// Run prints what a shell is to read at its start.
func (c completionCommand) Run(a *app) error {
	_, err := fmt.Fprint(a.out, completion.Scripts[c.Shell])
	return err
}

// speechNames returns the speech models that may be written for an argument. Who types is told of no
// fault.
func speechNames(argument string) (all []completion.Suggestion) {
	s, err := openSpeechModels()
	if err != nil {
		return nil
	}
	switch argument {
	case "models get name":
		for name, sets := range s.Bundles {
			all = append(all, completion.Suggestion{Text: name, Help: strings.Join(sets, ", ")})
		}
		for _, set := range s.Sets {
			all = append(all, completion.Suggestion{Text: set.Name, Help: set.Title})
		}
	case "models remove name", "models test name", "models use name":
		here, _ := s.List()
		for _, set := range here {
			all = append(all, completion.Suggestion{Text: set.Name, Help: set.Title})
		}
	}
	return all
}

// A completeCommand is what the shells call.
type completeCommand struct {
	Shell string   `arg:""`
	At    int      `arg:""`
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints how the word may go on at which somebody is, one a line, or :files.
func (c completeCommand) Run(a *app) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if c.At < 1 || len(words) == 0 {
		return &verdict{misused, errors.New("no word to complete")}
	}
	t := completion.Line{Command: a.model.Node, Status: func() (api.Status, error) { // who types is told of no fault
		cfg, _ := config.Salvage(a.file)
		ctx, cancel := context.WithTimeout(a.ctx, whoIsThere)
		defer cancel()
		return state(ctx, &client.Client{Socket: cfg.Server.Path()})
	}, Local: speechNames}
	for _, w := range t.Complete(words, c.At) {
		fmt.Fprintln(a.out, w.For(c.Shell))
	}
	return nil
}
