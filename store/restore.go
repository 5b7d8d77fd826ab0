package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"earshot"
	"earshot/store/backup"
	"earshot/store/journal"
	"earshot/store/salvage"
)

// A Companion is a file of another package that is stored in a backup with the journal.
type Companion = backup.Companion

// Backup writes the current journal into a new file at path, readable only by its owner, together
// with some files of other packages, and checks what it wrote. Others can write to the journal
// meanwhile. The backup holds neither deleted content nor its traces, because only what exists is
// written. Backup takes the time and the disk space of a copy; if it fails, it leaves no file.
func (a *Archive) Backup(ctx context.Context, path string, with ...Companion) error {
	return backup.Write(ctx, path, a.copyTo, with...)
}

// A Restoration is the result of restoring a backup.
type Restoration struct {
	Totals
	Aside string // the new name of the journal that was there; empty if there was none

	// Forgotten are the events that are erased in the previous journal but were not in the backup,
	// with everything made from them. Restore has erased them again.
	Forgotten []SelectedEvent

	// Untold says why the list of erased events may be incomplete.
	Untold error

	// Companions are the files of other packages in the backup. Nothing was done with them.
	Companions []Companion
}

// maxErased is how many events are erased from a restored journal in one step.
const maxErased = 500

// Restore replaces the journal in the directory by a backup. Nobody may be using the journal. The
// backup is checked first, and not changed. An existing journal is set aside under another name,
// and never deleted; unless instead is set, it is an error that wraps [os.ErrExist]. Events that
// are erased in the existing journal are erased in the restored one too. A crash at any moment
// leaves one of the two in place.
func Restore(ctx context.Context, c Config, file string, instead bool) (r Restoration, err error) {
	if c.URL != "" {
		return r, fmt.Errorf("restoring into a database: %w: use pg_restore, or earshot import", errors.ErrUnsupported)
	}
	directory, now := c.Directory, time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	if err := prepare(directory); err != nil {
		return r, err
	}
	l, last, err := acquire(directory, filepath.Join(directory, lockFile))
	if err != nil {
		return r, err
	}
	path := filepath.Join(directory, journal.FileName)
	defer func() { err = errors.Join(err, l.release(err == nil || last == closed)) }()
	if err := salvage.Resume(path, now); err != nil {
		return r, err
	}
	bytes, there, err := journal.Size(path)
	if err != nil {
		return r, err
	}
	if there && bytes > 0 && !instead {
		return r, fmt.Errorf("%w: %s", os.ErrExist, path)
	}
	fresh := filepath.Join(directory, journal.SalvageName)
	r.Totals, r.Companions, err = backup.Unpack(ctx, file, fresh)
	if err == nil && c.Fits != nil {
		for _, f := range r.Companions {
			err = errors.Join(err, c.Fits(f))
		}
	}
	if err == nil && there && bytes > 0 {
		err = r.forget(ctx, c, path, fresh)
	}
	if err != nil {
		return Restoration{}, errors.Join(err, journal.Discard(fresh))
	}
	if there { // if anything fails from here on, the next start finishes the work
		if r.Aside, err = journal.SetAside(path, journal.ReasonReplaced, now); err != nil {
			return r, err
		}
	}
	return r, journal.Install(fresh, path)
}

// forget erases in the journal at fresh what is erased in the one at path, as far as that one can
// be read.
func (r *Restoration) forget(ctx context.Context, c Config, path, fresh string) (err error) {
	ids, err := backup.Erased(ctx, path)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.Untold = err
	db, err := journal.OpenWriter(fresh)
	if err != nil {
		return err
	}
	defer func() { err = journal.CloseNew(ctx, db, err) }()
	var s *Store // opened only when there is something to erase, because opening brings the file up to date
	for some := range slices.Chunk(ids, maxErased) {
		if there, err := backup.HoldsAny(ctx, db, some); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		if s == nil {
			s = newStore(ctx, c, nil)
			defer s.reports.close()
			s.archive.path = fresh
			if err := s.prepareTables(ctx, db, false); err != nil {
				return err
			}
		}
		gone, err := s.eraseIn(ctx, db, some)
		if err != nil {
			return fmt.Errorf("deleting again what was forgotten since the backup: %w", err)
		}
		r.Forgotten, r.Erased = append(r.Forgotten, gone...), r.Erased+len(gone)
	}
	return nil
}

// eraseIn erases the events, and what was made from them, in one step.
func (s *Store) eraseIn(ctx context.Context, db *sql.DB, ids []earshot.EventID) (gone []SelectedEvent, err error) {
	err = journal.InTransaction(ctx, db, func(tx *sql.Tx) (err error) {
		if gone, err = s.overheard.Erase(ctx, tx, ids); err != nil { // first, because erasing the others would take more events with it
			return err
		}
		also, err := s.editor.EraseAll(ctx, tx, ids...)
		if err != nil {
			return err
		}
		gone = append(gone, also...)
		return journal.MarkTraces(ctx, tx)
	})
	return gone, err
}
