package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"earshot/config"
	"earshot/daemon"
	"earshot/daemon/erase"
	"earshot/daemon/health"
	"earshot/internal/atomicfile"
	"earshot/internal/discord/bot"
	"earshot/internal/english"
	"earshot/internal/export"
	"earshot/internal/terminal"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

type backupCommand struct {
	File   string `arg:"" help:"The file to write."`
	Tokens bool   `help:"Include the tokens by which people prove who they are: treat the file like a password."`
	Force  bool   `help:"Overwrite an existing file."`
}

// besideJournal are the files that are kept with the journal, besides the tokens: the voices that
// are kept, who has opted out of being heard, which messages elsewhere are ours, and what the
// models have cost.
var besideJournal = []string{voicesFile, bot.OptOutsFile, bot.PostsFile, health.CostsFile}

// voicesFile is that of the voices.
var voicesFile = filepath.Base(speakers.Path(""))

// tokensFile is that of the tokens.
var tokensFile = filepath.Base(token.In("").Path)

// Run copies the journal, while earshot runs or not.
func (c backupCommand) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	if err := export.MayWrite(c.File, c.Force); err != nil {
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
	if err := export.MayWrite(c.File, c.Force); err != nil {
		return err
	}
	if err := os.Rename(fresh, c.File); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s, %.1f MB, checked. To restore it: earshot restore %s\n", config.ShortPath(c.File), float64(info.Size())/1e6, c.File)
	return err
}

type restoreCommand struct {
	File  string `arg:"" help:"The file that earshot backup wrote."`
	Force bool   `help:"Set aside what is kept now. What was forgotten since the backup stays forgotten."`
}

// Run puts a backup in the place of what is kept.
func (c restoreCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	refused, err := bot.OpenOptOuts(cfg.Store.Directory)
	if err != nil { // who has said no must go on being known
		return err
	}
	now := time.Now()
	kept := daemon.StoreConfig(cfg)
	kept.Now = func() time.Time { return now }
	kept.Fits = func(file store.Companion) error {
		if file.Name == bot.OptOutsFile {
			return bot.CheckOptOuts(file.Data)
		}
		return nil // the others are left out, or taken as they are
	}
	done, err := store.Restore(a.ctx, kept, c.File, c.Force)
	var locked *store.ErrLocked
	switch {
	case errors.As(err, &locked):
		return fmt.Errorf("%w\n  → stop it first, with /exit or ^C where it runs", err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is already a journal in %s\n  → --force sets it aside without deleting it", config.ShortPath(cfg.Store.Directory))
	case err != nil:
		return fmt.Errorf("%s was not restored, and nothing was changed: %w", config.ShortPath(c.File), err)
	}
	for _, file := range done.Companions {
		if err := restored(a, cfg, file, refused, now); err != nil {
			return err
		}
	}
	if err := bot.OpenPostLog(cfg.Store.Directory, quietly).Forget(erase.TurnsOf(done.Forgotten)); err != nil {
		return err
	}
	return c.tell(a, cfg, done)
}

// restored puts a file in its place that is kept with the journal, without what people have
// refused since.
func restored(a *app, cfg *config.Config, file store.Companion, refused *bot.OptOuts, now time.Time) (err error) {
	path := filepath.Join(cfg.Store.Directory, file.Name)
	data, gone, thing := file.Data, 0, ""
	switch file.Name {
	case bot.OptOutsFile:
		return refused.Join(data)
	case voicesFile:
		thing = "voice"
		data, gone, err = speakers.Still(cfg.Store.Directory, data)
	case tokensFile:
		thing = "token"
		data, gone, err = token.In(cfg.Store.Directory).Still(data)
	case bot.PostsFile, health.CostsFile:
	default:
		return nil // no other has ever been in a backup
	}
	if err != nil {
		fmt.Fprintf(a.err, "The backup of %s is left out, because nobody can tell what was revoked since: %s\n", file.Name, terminal.Safe(err.Error()))
		return nil
	}
	if gone > 0 {
		fmt.Fprintf(a.out, "Left out: %s of the backup, revoked here since.\n", english.Count(gone, thing))
	}
	// What is here is set aside only when the other is on the disk: where no file is, the next
	// restore would take it that nobody has refused anything.
	fresh := path + ".replaced-by" // if a kill leaves it there, it goes like what is set aside
	if err := atomicfile.Write(fresh, data); err != nil {
		return err
	}
	if err := os.Rename(path, path+".replaced-"+now.UTC().Format("20060102T150405Z")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, path)
}

// tell says what came of it.
func (restoreCommand) tell(a *app, cfg *config.Config, done store.Restoration) error {
	fmt.Fprintf(a.out, "%s restored into %s.\n", english.Count(done.Events, "event"), config.ShortPath(cfg.Store.Directory))
	if n := len(done.Forgotten); n > 0 {
		fmt.Fprintf(a.out, "Forgotten again: %s, which were forgotten here after the backup was made. The backup file still has them.\n", english.Count(n, "event"))
	}
	if done.Untold != nil {
		fmt.Fprintln(a.err, "What was forgotten here after the backup was made may be back: the previous journal cannot be read, so nobody can tell.")
	}
	if done.Aside == "" {
		return nil
	}
	_, err := fmt.Fprintf(a.out, "The previous journal is now called %s; delete it when you no longer need it. It is deleted as a whole when something is forgotten.\n", config.ShortPath(done.Aside))
	return err
}
