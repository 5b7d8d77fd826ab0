package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"earshot/internal/helper"
)

// withoutVoice returns what stands in the table in place of a figure of the
// voice: nothing if it can be measured. Parts are what one may want to do
// without, programs what it needs from the system.
func withoutVoice(name string, parts []string, programs ...string) []Row {
	for _, part := range append(parts, "voice") {
		if unwanted(part) {
			return []Row{{Name: name, Note: "not measured: EARSHOT_WITHOUT has " + part}}
		}
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return []Row{{Name: name, Note: "not measured: there is no " + program + "; scripts/setup test says how to get it"}}
		}
	}
	return nil
}

// unwanted reports whether one wants to do without a part.
func unwanted(part string) bool {
	list := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(list, part)
}

// The helpers of the voice.
const (
	soundHelper  = "earshot-sound"
	speechHelper = "earshot-speech"
)

// A dial says how to start helpers.
type dial struct {
	dir string   // where they are
	env []string // on top of what is there anyway
}

// dial builds the helpers and returns how to start them.
func (b bench) dial(ctx context.Context, env ...string) (dial, error) {
	return dial{b.bin(), env}, b.helpers(ctx)
}

// to returns how to start one helper.
func (d dial) to(name string, args ...string) helper.Dialer {
	return func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: name, Path: filepath.Join(d.dir, name), Args: args, Env: d.env, Log: silent})
	}
}

// beside runs parts in the background, and returns a context that ends when one
// of them fails, and what ends them all and says why one did.
func beside(ctx context.Context, parts ...func(context.Context) error) (context.Context, func() error) {
	ctx, cancel := context.WithCancel(ctx)
	g, during := errgroup.WithContext(ctx)
	for _, part := range parts {
		g.Go(func() error {
			err := part(during)
			if err == nil && during.Err() == nil {
				err = errors.New("a part of the voice came to its end")
			}
			return err
		})
	}
	return during, func() error {
		cancel()
		if err := g.Wait(); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}
}
