package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"earshot/config"
	"earshot/store"
)

// isFirst reports whether earshot has never run with a journal there. One in which nothing is
// was begun by a command.
func isFirst(ctx context.Context, cfg *config.Config) bool {
	archive, err := store.OpenReader(ctx, cfg.Store.Directory)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer archive.Close()
	for range archive.Export(ctx) { // also an error: nobody knows what is in there
		return false
	}
	return true
}

// forewarn says at the first start that it thinks by itself, which costs something, and how
// that is turned off.
func (a *app) forewarn(cfg *config.Config) {
	if !cfg.Executive.ThinksUnasked() {
		return
	}
	w := a.told()
	if a.person() {
		w = a.printed()
	}
	fmt.Fprintf(w, "It also thinks unasked about new things, which takes model time (earshot today shows how much). To turn that off, set executive.parallel.reasoning_continuous to false in %s.\n\n",
		config.ShortPath(cmp.Or(cfg.File, config.Places()[0])))
}
