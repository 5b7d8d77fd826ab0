package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// bin is where the programs are that were built.
func (b bench) bin() string { return cmp.Or(b.built, filepath.Join(b.dir, "bin")) }

// daemon builds earshot without C, as make build does.
func (b bench) daemon(ctx context.Context) (binary string, err error) {
	return b.build(ctx, "earshot", "earshot/cmd/earshot", "CGO_ENABLED=0")
}

// helpers builds the helpers of the voice.
func (b bench) helpers(ctx context.Context) error {
	for _, name := range []string{soundHelper, speechHelper} {
		if _, err := b.build(ctx, name, "earshot/cmd/"+name, "CGO_ENABLED=1"); err != nil {
			return err
		}
	}
	return nil
}

// building is held while a program is built.
var building sync.Mutex

// build builds a program, once for all figures.
func (b bench) build(ctx context.Context, name, what string, env ...string) (binary string, err error) {
	building.Lock()
	defer building.Unlock()
	binary = filepath.Join(b.bin(), name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	c := exec.CommandContext(ctx, "go", "build", "-o", binary, what)
	c.Env = append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return binary, nil
}
