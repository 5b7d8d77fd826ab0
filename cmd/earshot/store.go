package main

import (
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/store"
)

type storeCommand struct {
	Path    storePath    `cmd:"" help:"Print the folder of the journal."`
	Rebuild storeRebuild `cmd:"" help:"Rebuild the search index and the other views from the journal."`
	Delete  storeDelete  `cmd:"" hidden:""` // as it was called once
}

type storePath struct{}

// Run prints where the journal is.
func (storePath) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, cfg.Store.Directory)
	return err
}

type storeRebuild struct{}

// Run makes the views again.
func (storeRebuild) Run(a *app) error {
	return a.write(func(s *store.Store) error {
		if err := s.Rebuild(a.ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(a.out, "The views were rebuilt.")
		return err
	})
}

type storeDelete struct {
	IDs []string `arg:"" optional:"" name:"id"`
}

// Run says what it is called now.
func (c storeDelete) Run(*app) error {
	if len(c.IDs) == 0 {
		c.IDs = []string{"ID"}
	}
	return &verdict{misused, errors.New("use forget instead, which also works while earshot is running\n  → earshot forget --id " + strings.Join(c.IDs, " --id "))}
}

// write opens the journal for writing, which only one process may.
func (a *app) write(use func(*store.Store) error) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	c := cfg.Journal()
	c.Report = func(n earshot.Notice) { fmt.Fprintf(a.err, "earshot: %s\n", n.Text) }
	s, err := store.Open(a.ctx, c)
	var locked *store.ErrLocked
	switch {
	case errors.As(err, &locked) && cfg.Store.URL != "": // it may run elsewhere
		return fmt.Errorf("the journal in %s is in use by an earshot on another machine\n  → run this on that machine; or first stop earshot on each", cfg.Store.Place())
	case locked != nil:
		return fmt.Errorf("%w\n  → stop it first, with /exit or ^C where it runs", err)
	case err != nil:
		return err
	}
	return errors.Join(use(s), s.Close())
}
