// Package firststart asks the person at the terminal, before earshot starts, what it may use and which
// model is to answer, and saves that in the configuration.
package firststart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"earshot/config"
	"earshot/internal/progress"
	"earshot/store"
)

// A Dialog asks the person at a terminal.
type Dialog struct {
	In  *os.File
	Out func() io.Writer // returns the beginning of a row of the terminal

	Download func(model string) *progress.Download
}

// IsFirst reports whether earshot has never run with a journal there. One in which nothing is
// was begun by a command.
func IsFirst(ctx context.Context, cfg *config.Config) bool {
	archive, err := store.OpenReader(ctx, cfg.Store)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer archive.Close()
	for range archive.Export(ctx) { // also an error: nobody knows what is in there
		return false
	}
	return true
}

// Forewarn says at the first start that earshot thinks by itself, which costs something, and how that
// is turned off.
func Forewarn(w io.Writer, cfg *config.Config) {
	if cfg.Executive.ThinksUnasked() {
		fmt.Fprintf(w, "It also thinks unasked about new things, which takes model time (earshot today shows how much). To turn that off, set executive.parallel.reasoning_continuous to false in %s.\n\n",
			config.ShortPath(cmp.Or(cfg.File, config.Places()[0])))
	}
}
