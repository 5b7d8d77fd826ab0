package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon"
	"earshot/executive/explain"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
)

type whyCommand struct {
	reading
	Last   int    `short:"n" default:"10" help:"How many decisions."`
	Agent  string `help:"The agent; all by default." placeholder:"NAME"`
	Before int64  `help:"Only decisions before this sequence number, to go further back." placeholder:"N"`
	JSON   bool   `help:"Print them as JSON, one per line."`
}

// Run tells why agents spoke, or kept silent.
func (w whyCommand) Run(a *app) error {
	tell := w.tell
	if a.asks() {
		tell = w.tellAway
	}
	all, main, err := tell(a)
	err = overDamage(err, func() (err error) {
		all, main, err = w.tellAway(a)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return &verdict{notFound, errors.New("no decision has been made, or none that you may see")}
	case w.JSON:
		return lines(a.out, all)
	}
	return w.print(a, all, main)
}

// tell returns what was decided, and what the main agent is called.
func (w whyCommand) tell(a *app) (all []api.ExplainedDecision, main string, err error) {
	err = a.journal(w.reading, func(r journalPast) (err error) {
		q := explain.Query{Last: max(1, w.Last), Before: max(0, w.Before)}
		if w.Agent != "" {
			agent, ok := r.people.Find(w.Agent)
			if !ok || agent.Type != participants.Internal {
				return &verdict{notFound, fmt.Errorf("no agent is called %q\n  → see: earshot agents", participants.OneLine(w.Agent))}
			}
			q.Agent = agent.ID
		}
		main = r.people.Name(participants.Agent)
		all, err = explain.Tell(a.ctx, r, q, r.people.Name)
		return err
	})
	return all, main, err
}

// lines prints some things as JSON, one a line.
func lines[T any](w io.Writer, all []T) error {
	for _, one := range all {
		if err := json.NewEncoder(w).Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// print tells people, and how they can go further back. It names the agents where
// more than the main one has decided.
func (w whyCommand) print(a *app, all []api.ExplainedDecision, main string) error {
	several := slices.ContainsFunc(all, func(one api.ExplainedDecision) bool { return one.Agent != main })
	fmt.Fprintln(a.printed(), terminal.Safe(explain.Text(all, time.Local, several)))
	if last := max(1, w.Last); len(all) == last {
		fmt.Fprintf(a.told(), "  → for earlier decisions: earshot why --last %d --before %d\n", last, all[0].Sequence)
	}
	return nil
}

type contextCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	JSON bool           `help:"Print it as JSON, one entry per line."`
}

// Run tells what is going on, as far as whoever asks may know it.
func (c contextCommand) Run(a *app) error {
	client, _, err := a.reach(c.identityFlags, c.Room)
	if err != nil {
		return err
	}
	all, err := client.Context(a.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return lines(a.out, all)
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(a.printed(), "Nothing is going on.")
		return err
	}
	for _, is := range all {
		fmt.Fprintln(a.printed(), transcript.Indent(terminal.Safe(daemon.SceneEntryText(is))))
	}
	return nil
}
