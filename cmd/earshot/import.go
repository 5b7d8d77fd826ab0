package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"earshot/config"
	"earshot/daemon/backup"
	"earshot/internal/atomicfile"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/store"
)

type importCommand struct {
	File   string `arg:"" help:"The file that earshot export wrote."`
	DryRun bool   `help:"Only show what would be imported."`
	JSON   bool   `help:"Print the result as JSON."`
}

// Run adds what an export has to the journal, all of it or nothing.
func (c importCommand) Run(a *app) error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	var done store.Import
	err = a.write(func(s *store.Store) (err error) {
		done, err = s.Import(a.ctx, f, c.DryRun)
		return err
	})
	if line, ok := errors.AsType[*store.ErrImport](err); ok {
		return fmt.Errorf("%s was not imported, and nothing was changed: %w", config.ShortPath(c.File), line)
	}
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	var files []string
	for _, b := range done.Companions {
		path := filepath.Join(cfg.Store.Directory, b.Name)
		if b.Name != backup.VoicesFile {
			continue // no other has ever been exported
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(a.err, "Its voices were left out, because voices are already kept here: %s\n", config.ShortPath(path))
			continue
		}
		if files = append(files, b.Name); c.DryRun {
			continue
		}
		if err := atomicfile.Write(path, b.Content); err != nil {
			return fmt.Errorf("keeping the voices: %w", err)
		}
	}
	if c.JSON {
		return a.json(struct {
			Events int      `json:"events"`
			Added  int      `json:"added"`
			Known  int      `json:"known"`
			Erased int      `json:"erased"`
			Only   string   `json:"only,omitempty"`
			Files  []string `json:"files,omitempty"`
			DryRun bool     `json:"dry_run,omitempty"`
		}{done.Events, done.Added, done.Known, done.Erased, done.Label.Only, files, c.DryRun})
	}
	if done.Label.Only != "" {
		fmt.Fprintf(a.out, "The export has only: %s.\n", terminal.Safe(done.Label.Only))
	}
	verb := "imported"
	if c.DryRun {
		verb = "would be imported"
	}
	fmt.Fprintf(a.out, "%s %s", english.Count(done.Added, "event"), verb)
	if done.Erased > 0 {
		fmt.Fprintf(a.out, ", %d of them without content, because it was deleted", done.Erased)
	}
	if done.Known > 0 {
		fmt.Fprintf(a.out, "; %d are already here", done.Known)
	}
	_, err = fmt.Fprintln(a.out, ".")
	return err
}
