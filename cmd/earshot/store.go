package main

import (
	"errors"
	"fmt"

	"earshot"
	"earshot/store"
)

type storeCommand struct {
	Path    storePath    `cmd:"" help:"Print where the journal is."`
	Rebuild storeRebuild `cmd:"" help:"Make the search and the other views again from the journal."`
	Delete  storeDelete  `cmd:"" help:"Erase events and everything that came from them."`
}

type storePath struct{}

// Run prints where the journal is.
func (storePath) Run(a *app) error {
	cfg, err := a.config()
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
		_, err := fmt.Fprintln(a.out, "The views were made again.")
		return err
	})
}

type storeDelete struct {
	IDs []string `arg:"" name:"id" help:"The IDs of the events, as --json shows them."`
}

// Run erases events.
func (c storeDelete) Run(a *app) error {
	return a.write(func(s *store.Store) error {
		var ids []earshot.EventID
		for _, id := range c.IDs {
			ids = append(ids, earshot.EventID(id))
		}
		n, err := s.Delete(a.ctx, ids...)
		if err != nil {
			return err
		}
		if n == 0 {
			return &verdict{notFound, errors.New("there is no such event, or it is erased already")}
		}
		_, err = fmt.Fprintf(a.out, "%s erased.\n", count(n, "event"))
		return err
	})
}

// write opens the journal for writing, which only one process may.
func (a *app) write(use func(*store.Store) error) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	c := cfg.Store
	c.Projections = projections()
	c.Report = func(n earshot.Notice) { fmt.Fprintf(a.err, "earshot: %s\n", n.Text) }
	s, err := store.Open(a.ctx, c)
	var locked *store.ErrLocked
	if errors.As(err, &locked) {
		return fmt.Errorf("%w\n  → end it first, with /exit or ^C where it runs", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(use(s), s.Close())
}
