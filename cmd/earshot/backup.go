package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"earshot/speakers"
	"earshot/store"
)

type backupCommand struct {
	File   string `arg:"" help:"The file to write."`
	Tokens bool   `help:"With the tokens by which people prove who they are: whoever has the file can then pass for them, where their secrets are known."`
	Force  bool   `help:"Write over a file that is there."`
}

// besideJournal are the files that are kept with the journal, besides the tokens: the voices that
// are kept, who has opted out of being heard, and which messages elsewhere are ours.
var besideJournal = []string{voicesFile, "optouts.json", "discord.jsonl"}

// voicesFile is that of the voices.
var voicesFile = filepath.Base(speakers.Path(""))

// tokensFile is that of the tokens.
const tokensFile = "tokens.json"

// Run copies the journal, while earshot runs or not.
func (c backupCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if err := vacant(c.File, c.Force); err != nil {
		return err
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	names := besideJournal
	if c.Tokens {
		names = append(names[:len(names):len(names)], tokensFile)
	}
	var with []store.Companion
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(cfg.Store.Directory, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		with = append(with, store.Companion{Name: name, Data: data})
	}
	directory, err := os.MkdirTemp(filepath.Dir(c.File), ".earshot-backup-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	fresh := filepath.Join(directory, "earshot.db")
	if err := archive.Backup(a.ctx, fresh, with...); err != nil {
		return err
	}
	if err := vacant(c.File, c.Force); err != nil {
		return err
	}
	if err := os.Rename(fresh, c.File); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s, %.1f MB, looked through. To have it back: earshot restore %s\n", short(c.File), float64(info.Size())/1e6, c.File)
	return err
}

type restoreCommand struct {
	File  string `arg:"" help:"The file that earshot backup has written."`
	Force bool   `help:"Set aside what is kept now."`
}

// Run puts a backup in the place of what is kept.
func (c restoreCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	now := time.Now()
	done, err := store.Restore(a.ctx, cfg.Store.Directory, c.File, c.Force, now)
	var locked *store.ErrLocked
	switch {
	case errors.As(err, &locked):
		return fmt.Errorf("%w\n  → end it first, with /exit or ^C where it runs", err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is a journal in %s already\n  → with --force it is set aside, not deleted", short(cfg.Store.Directory))
	case err != nil:
		return fmt.Errorf("%s was not restored, and nothing has changed: %w", short(c.File), err)
	}
	for _, file := range done.Companions {
		if file.Name != tokensFile && !slices.Contains(besideJournal, file.Name) {
			continue // no other has ever been in a backup
		}
		path := filepath.Join(cfg.Store.Directory, file.Name)
		if _, err := os.Lstat(path); err == nil {
			if err := os.Rename(path, path+".replaced-"+now.UTC().Format("20060102T150405Z")); err != nil {
				return err
			}
		}
		if err := replaceFile(path, file.Data); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%s restored into %s.\n", count(done.Events, "event"), short(cfg.Store.Directory))
	if done.Aside != "" {
		_, err = fmt.Fprintf(a.out, "What was there is called %s now; delete it when you are sure. What is forgotten from now on stays in it.\n", short(done.Aside))
	}
	return err
}
