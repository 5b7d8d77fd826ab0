// Package backup writes a copy of the journal and of the files beside it, and restores it, without
// what people have revoked or had forgotten since.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"earshot/config"
	"earshot/daemon/erase"
	"earshot/daemon/health"
	"earshot/internal/atomicfile"
	"earshot/internal/discord/bot"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/satellite/pairing"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

// besideJournal are the files that are kept with the journal, besides the tokens: the voices that
// are kept, who has opted out of being heard, which messages elsewhere are ours, what the models have
// cost, and the public keys of the satellites.
var besideJournal = []string{VoicesFile, bot.OptOutsFile, bot.PostsFile, health.CostsFile, pairing.File}

// VoicesFile is the file with the voices.
var VoicesFile = filepath.Base(speakers.Path(""))

// tokensFile is the file with the tokens.
var tokensFile = filepath.Base(token.In("").Path)

// Write copies a journal and the files in its directory into a file, with the tokens and the key of the
// bus if they are wanted. An existing file is overwritten only by force.
func Write(ctx context.Context, archive *store.Archive, directory, file string, tokens, force bool) error {
	names := besideJournal
	if tokens {
		names = append(names[:len(names):len(names)], tokensFile, pairing.CertificateFile)
	}
	var with []store.Companion
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(directory, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		with = append(with, store.Companion{Name: name, Data: data})
	}
	place, err := os.MkdirTemp(filepath.Dir(file), ".earshot-backup-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(place)
	fresh := filepath.Join(place, "earshot.db")
	if err := archive.Backup(ctx, fresh, with...); err != nil {
		return err
	}
	if err := atomicfile.MayWrite(file, force); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// A Restorer restores backups.
type Restorer struct {
	Config   *config.Config
	Out, Err io.Writer // for what came of it, and for what went wrong and stopped nothing
	Log      *slog.Logger
	now      time.Time
	refused  *bot.OptOuts // who has said no must go on being known
}

// Restore restores the backup at path, and tells what came of it. A journal that is there is an error,
// or with force is set aside.
func (r *Restorer) Restore(ctx context.Context, path string, force bool) (err error) {
	directory := r.Config.Store.Directory
	if r.refused, err = bot.OpenOptOuts(directory); err != nil {
		return err
	}
	r.now = time.Now()
	kept := r.Config.Journal()
	kept.Now = func() time.Time { return r.now }
	kept.Fits = func(file store.Companion) error {
		if file.Name == bot.OptOutsFile {
			return bot.CheckOptOuts(file.Data)
		}
		return nil // the others are left out, or taken as they are
	}
	done, err := store.Restore(ctx, kept, path, force)
	var locked *store.ErrLocked
	switch {
	case errors.As(err, &locked):
		return fmt.Errorf("%w\n  → stop it first, with /exit or ^C where it runs", err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is already a journal in %s\n  → --force sets it aside without deleting it", config.ShortPath(directory))
	case err != nil:
		return fmt.Errorf("%s was not restored, and nothing was changed: %w", config.ShortPath(path), err)
	}
	for _, file := range done.Companions {
		if err := r.replace(file); err != nil {
			return err
		}
	}
	if err := bot.OpenPostLog(directory, r.Log).Forget(erase.TurnsOf(done.Forgotten)); err != nil {
		return err
	}
	return r.tell(done)
}

// replace restores a file beside the journal, without what people have refused since.
func (r *Restorer) replace(file store.Companion) (err error) {
	path := filepath.Join(r.Config.Store.Directory, file.Name)
	data, gone, thing := file.Data, 0, ""
	switch file.Name {
	case bot.OptOutsFile:
		return r.refused.Join(data)
	case VoicesFile:
		thing = "voice"
		data, gone, err = speakers.Still(r.Config.Store.Directory, data)
	case tokensFile:
		thing = "token"
		data, gone, err = token.In(r.Config.Store.Directory).Still(data)
	case pairing.File:
		thing = "satellite"
		data, gone, err = pairing.In(r.Config.Store.Directory).Still(data)
	case pairing.CertificateFile:
		if here, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			if err != nil || !bytes.Equal(here, data) { // that of the backup may have been given up since
				fmt.Fprintf(r.Out, "Left out: the key of the bus, since there is another one here. To take that of the backup, move %s away first.\n", config.ShortPath(path))
			}
			return nil
		}
	case bot.PostsFile, health.CostsFile:
	default:
		return nil // no other has ever been in a backup
	}
	if err != nil {
		fmt.Fprintf(r.Err, "The backup of %s is left out, because nobody can tell what was revoked since: %s\n", file.Name, terminal.Safe(err.Error()))
		return nil
	}
	if gone > 0 {
		fmt.Fprintf(r.Out, "Left out: %s of the backup, revoked here since.\n", english.Count(gone, thing))
	}
	// What is here is set aside only when the other is on the disk: where no file is, the next
	// restore would take it that nobody has refused anything.
	fresh := path + ".replaced-by" // if a kill leaves it there, it goes like what is set aside
	if err := atomicfile.Write(fresh, data); err != nil {
		return err
	}
	if err := os.Rename(path, path+".replaced-"+r.now.UTC().Format("20060102T150405Z")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, path)
}

// tell says what came of it.
func (r *Restorer) tell(done store.Restoration) error {
	fmt.Fprintf(r.Out, "%s restored into %s.\n", english.Count(done.Events, "event"), config.ShortPath(r.Config.Store.Directory))
	if n := len(done.Forgotten); n > 0 {
		fmt.Fprintf(r.Out, "Forgotten again: %s, which were forgotten here after the backup was made. The backup file still has them.\n", english.Count(n, "event"))
	}
	if done.Untold != nil {
		fmt.Fprintln(r.Err, "What was forgotten here after the backup was made may be back: the previous journal cannot be read, so nobody can tell.")
	}
	if done.Aside == "" {
		return nil
	}
	_, err := fmt.Fprintf(r.Out, "The previous journal is now called %s; delete it when you no longer need it. It is deleted as a whole when something is forgotten.\n", config.ShortPath(done.Aside))
	return err
}
