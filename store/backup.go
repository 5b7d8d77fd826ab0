package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"earshot"
)

// A Companion is a file of another package that is stored in a backup with the journal.
type Companion struct {
	Name string // without a directory
	Data []byte
}

// Backup writes the current journal into a new file at path, readable only by its owner, together
// with some files of other packages, and checks what it wrote. Others can write to the journal
// meanwhile. The backup holds neither deleted content nor its traces, because only what exists is
// written. Backup takes the time and the disk space of a copy; if it fails, it leaves no file.
func (a *Archive) Backup(ctx context.Context, path string, with ...Companion) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(path), discard(path+"-journal"))
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := a.vacuum(ctx, path); err != nil {
		return err
	}
	if err := sweepCopy(ctx, path); err != nil {
		return kept(path, err)
	}
	if err := accompany(ctx, path, with); err != nil {
		return err
	}
	return force(path)
}

// vacuum writes the journal into the empty file at path. The journal is opened read-only, on a
// connection that may create another file.
func (a *Archive) vacuum(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", address(a.path, url.Values{"mode": {"ro"}}, always, []string{"secure_delete(1)"}))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return a.failed(ctx, err)
	}
	return nil
}

// accompany adds files to a backup, and checks all of it.
func accompany(ctx context.Context, path string, with []Companion) (err error) {
	db, err := openCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE companions (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
		return kept(path, err)
	}
	for _, c := range with {
		if _, err := db.ExecContext(ctx, "INSERT INTO companions (name, data) VALUES (?, ?)", c.Name, c.Data); err != nil {
			return kept(path, err)
		}
	}
	if err := sound(ctx, db); err != nil {
		return fmt.Errorf("reading the backup: %w", kept(path, err))
	}
	return nil
}

// sweepCopy removes from a copy of the journal what the index still holds of texts that were
// deleted just before. The traces that this leaves between the rows are removed by copying the
// copy.
func sweepCopy(ctx context.Context, path string) (err error) {
	db, err := openCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	swept, err := swept(ctx, db)
	if err != nil || !swept {
		return err
	}
	again := path + againEnding
	defer func() { err = errors.Join(err, discard(again)) }()
	if err := touch(again); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", again); err != nil {
		return err
	}
	return os.Rename(again, path)
}

// againEnding is the name suffix of a copy of a copy.
const againEnding = "-again"

// swept removes stale terms and separators from the index of a copy, and reports whether there were
// any.
func swept(ctx context.Context, db *sql.DB) (any bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM stale)").Scan(&any); err != nil {
		return false, odd(err)
	}
	index := new(messages)
	for more := any; more && err == nil; {
		more, err = index.sweep(ctx, tx)
	}
	if err != nil {
		return false, err
	}
	left, err := index.separators(ctx, tx)
	if err == nil {
		err = separate(ctx, tx, left)
	}
	if err != nil {
		return false, err
	}
	return any || len(left) > 0, tx.Commit()
}

// openCopy opens a copy of the journal for changes that need not survive a crash.
func openCopy(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", address(path, url.Values{"_txlock": {"immediate"}}, always, []string{"journal_mode(MEMORY)", "synchronous(FULL)", "secure_delete(1)"}))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// force forces a file and its name to the disk.
func force(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), flush(filepath.Dir(path)))
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

// Restore replaces the journal in the directory by a backup. Nobody may be using the journal. The
// backup is checked first, and not changed. An existing journal is set aside under another name,
// and never deleted; unless instead is set, it is an error that wraps [os.ErrExist]. Events that
// are erased in the existing journal are erased in the restored one too. A crash at any moment
// leaves one of the two in place.
func Restore(ctx context.Context, c Config, backup string, instead bool) (r Restoration, err error) {
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
	path := filepath.Join(directory, journalFile)
	defer func() { err = errors.Join(err, l.release(err == nil || last == closed)) }()
	if err := settle(path, now); err != nil {
		return r, err
	}
	bytes, there, err := size(path)
	if err != nil {
		return r, err
	}
	if there && bytes > 0 && !instead {
		return r, fmt.Errorf("%w: %s", os.ErrExist, path)
	}
	fresh := filepath.Join(directory, salvageFile)
	r, err = unwrap(ctx, backup, fresh)
	if err == nil && c.Fits != nil {
		for _, file := range r.Companions {
			err = errors.Join(err, c.Fits(file))
		}
	}
	if err == nil && there && bytes > 0 {
		err = r.forget(ctx, c, path, fresh)
	}
	if err != nil {
		return Restoration{}, errors.Join(err, discard(fresh))
	}
	if there { // if anything fails from here on, the next start finishes the work
		if r.Aside, err = aside(path, wasReplaced, now); err != nil {
			return r, err
		}
	}
	return r, replace(fresh, path)
}

// unwrap copies a backup to fresh, removes what does not belong to the journal, and checks it.
func unwrap(ctx context.Context, backup, fresh string) (r Restoration, err error) {
	if err := copied(backup, fresh); err != nil {
		return r, err
	}
	if err := head(fresh); err != nil {
		return r, errors.New("it is no backup of earshot")
	}
	db, err := openWriter(fresh)
	if err != nil {
		return r, err
	}
	defer func() { err = shut(ctx, db, err) }()
	v, err := version(ctx, db)
	if err != nil || v == 0 {
		return r, errors.Join(errors.New("it is no backup of earshot"), err)
	}
	if err := other(backup, v); err != nil {
		return r, err
	}
	if err := sound(ctx, db); err != nil {
		return r, fmt.Errorf("the backup is damaged: %w", err)
	}
	if r.Companions, err = companions(ctx, db); err != nil {
		return r, err
	}
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS companions"); err != nil {
		return r, err
	}
	err = db.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE kind = ?), coalesce(max(sequence), 0) FROM journal", earshot.KindErased).Scan(&r.Events, &r.Erased, &r.Last)
	return r, err
}

// forget erases in the journal at fresh what is erased in the one at path, as far as that one can
// be read.
func (r *Restoration) forget(ctx context.Context, c Config, path, fresh string) (err error) {
	ids, err := erasedIn(ctx, path)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.Untold = err
	db, err := openWriter(fresh)
	if err != nil {
		return err
	}
	defer func() { err = shut(ctx, db, err) }()
	var s *Store // opened only when there is something to erase, because opening brings the file up to date
	for some := range slices.Chunk(ids, asked) {
		if there, err := anyOf(ctx, db, some); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		if s == nil {
			s = newStore(ctx, c, nil)
			defer s.reports.close()
			s.archive.path = fresh
			if err := s.ready(ctx, db, false); err != nil {
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

// erasedIn returns the IDs of the events that are erased in the journal at path. If there is an
// error, it returns the IDs that could be read.
func erasedIn(ctx context.Context, path string) (ids []earshot.EventID, err error) {
	if err := head(path); err != nil {
		return nil, err
	}
	db, err := openReaders(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return column[earshot.EventID](db.QueryContext(ctx, "SELECT id FROM journal WHERE kind = ?", earshot.KindErased))
}

// anyOf reports whether any of the events exists and is not erased.
func anyOf(ctx context.Context, db *sql.DB, ids []earshot.EventID) (there bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM json_each(?) s CROSS JOIN journal j ON j.id = s.value WHERE j.kind <> ?)", asJSON(ids), earshot.KindErased).Scan(&there)
	return there, err
}

// eraseIn erases the events, and what was made from them, in one step.
func (s *Store) eraseIn(ctx context.Context, db *sql.DB, ids []earshot.EventID) (gone []SelectedEvent, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if gone, err = s.lapseIn(ctx, tx, ids); err != nil { // first, because erasing the others would take more events with it
		return nil, err
	}
	also, err := s.eraseAll(ctx, tx, ids...)
	if err != nil {
		return nil, err
	}
	gone = append(gone, also...)
	if err := mark(ctx, tx); err != nil {
		return nil, err
	}
	return gone, tx.Commit()
}

// companions returns the companions in an open backup.
func companions(ctx context.Context, db *sql.DB) ([]Companion, error) {
	var there bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'companions')").Scan(&there)
	if err != nil || !there {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name, data FROM companions ORDER BY name")
	return list(rows, err, func(c *Companion, rows *sql.Rows) error {
		err := rows.Scan(&c.Name, &c.Data)
		if err == nil && (c.Name != filepath.Base(c.Name) || c.Name == "." || c.Name == "..") {
			err = fmt.Errorf("the backup has an unexpected file in it: %.40q", c.Name)
		}
		return err
	})
}

// copied copies a database to a new one, readable only by its owner, and forces it to the disk. The
// log is copied too: a journal that was set aside may have its newest events there.
func copied(from, to string) error {
	if err := errors.Join(discard(to), copiedFile(from, to)); err != nil {
		return err
	}
	if err := copiedFile(from+"-wal", to+"-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copiedFile copies a file to a new one.
func copiedFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
