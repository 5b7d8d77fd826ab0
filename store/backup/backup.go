// Package backup writes the file of a backup, and takes a journal out of one. A backup is a copy of
// the journal without traces of deleted content, with files of other packages in it.
package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"earshot"
	"earshot/store/index"
	"earshot/store/journal"
)

// A Companion is a file of another package that is stored in a backup with the journal.
type Companion struct {
	Name string // without a directory
	Data []byte
}

// Write writes a backup into a new file at path, readable only by its owner, together with some
// files of other packages, and checks what it wrote. The function copyTo copies the journal into
// an empty file. If Write fails, it leaves no file.
func Write(ctx context.Context, path string, copyTo func(ctx context.Context, path string) error, with ...Companion) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, journal.Discard(path), journal.Discard(path+"-journal"))
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := copyTo(ctx, path); err != nil {
		return err
	}
	if err := sweepCopy(ctx, path); err != nil {
		return journal.Explain(path, err)
	}
	if err := addCompanions(ctx, path, with); err != nil {
		return err
	}
	return journal.Sync(path)
}

// addCompanions adds files to a backup, and checks all of it.
func addCompanions(ctx context.Context, path string, with []Companion) (err error) {
	db, err := journal.OpenCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE companions (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
		return journal.Explain(path, err)
	}
	for _, c := range with {
		if _, err := db.ExecContext(ctx, "INSERT INTO companions (name, data) VALUES (?, ?)", c.Name, c.Data); err != nil {
			return journal.Explain(path, err)
		}
	}
	if err := journal.CheckContents(ctx, db); err != nil {
		return fmt.Errorf("reading the backup: %w", journal.Explain(path, err))
	}
	return nil
}

// sweepCopy removes from a copy of the journal what the index still holds of texts that were
// deleted just before. The traces that this leaves between the rows are removed by copying the
// copy.
func sweepCopy(ctx context.Context, path string) (err error) {
	db, err := journal.OpenCopy(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	swept, err := sweepIndex(ctx, db)
	if err != nil || !swept {
		return err
	}
	again := path + againEnding
	defer func() { err = errors.Join(err, journal.Discard(again)) }()
	if err := journal.Touch(again); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", again); err != nil {
		return err
	}
	return os.Rename(again, path)
}

// againEnding is the name suffix of a copy of a copy.
const againEnding = "-again"

// sweepIndex removes stale terms and separators from the index of a copy, and reports whether there
// were any.
func sweepIndex(ctx context.Context, db *sql.DB) (any bool, err error) {
	err = journal.InTransaction(ctx, db, func(tx *sql.Tx) error {
		any, err = journal.Exists(ctx, tx, "SELECT 1 FROM stale")
		err = journal.StatementError(err)
		x := new(index.Index)
		for more := any; more && err == nil; {
			more, err = x.Sweep(ctx, tx)
		}
		if err != nil {
			return err
		}
		left, err := x.StaleSeparators(ctx, tx)
		any = any || len(left) > 0
		if err != nil {
			return err
		}
		return index.ReplaceSeparators(ctx, tx, left)
	})
	return any, err
}

// Unpack copies a backup to fresh, removes what does not belong to the journal, and checks it. It
// returns what is in the journal, and the companions.
func Unpack(ctx context.Context, backup, fresh string) (has journal.Totals, with []Companion, err error) {
	if err := copyDatabase(backup, fresh); err != nil {
		return has, nil, err
	}
	if err := journal.CheckHeader(fresh); err != nil {
		return has, nil, errors.New("it is no backup of earshot")
	}
	db, err := journal.OpenWriter(fresh)
	if err != nil {
		return has, nil, err
	}
	defer func() { err = journal.CloseNew(ctx, db, err) }()
	v, err := journal.FileVersion(ctx, db)
	if err != nil || v == 0 {
		return has, nil, errors.Join(errors.New("it is no backup of earshot"), err)
	}
	if err := journal.CheckVersion(backup, v, false); err != nil {
		return has, nil, err
	}
	if err := journal.CheckContents(ctx, db); err != nil {
		return has, nil, fmt.Errorf("the backup is damaged: %w", err)
	}
	if with, err = companions(ctx, db); err != nil {
		return has, nil, err
	}
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS companions"); err != nil {
		return has, nil, err
	}
	has, err = journal.Count(ctx, db)
	return has, with, err
}

// Erased returns the IDs of the events that are erased in the journal at path. If there is an
// error, it returns the IDs that could be read.
func Erased(ctx context.Context, path string) (ids []earshot.EventID, err error) {
	if err := journal.CheckHeader(path); err != nil {
		return nil, err
	}
	db, err := journal.OpenReaders(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return journal.Column[earshot.EventID](db.QueryContext(ctx, "SELECT id FROM journal WHERE kind = ?", earshot.KindErased))
}

// HoldsAny reports whether any of the events exists and is not erased.
func HoldsAny(ctx context.Context, db *sql.DB, ids []earshot.EventID) (bool, error) {
	return journal.Exists(ctx, db, "SELECT 1 FROM json_each(?) s CROSS JOIN journal j ON j.id = s.value WHERE j.kind <> ?", journal.JSON(ids), earshot.KindErased)
}

func companions(ctx context.Context, db *sql.DB) ([]Companion, error) {
	there, err := journal.Exists(ctx, db, "SELECT 1 FROM sqlite_schema WHERE name = 'companions'")
	if err != nil || !there {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name, data FROM companions ORDER BY name")
	return journal.List(rows, err, func(c *Companion, rows *sql.Rows) error {
		err := rows.Scan(&c.Name, &c.Data)
		if err == nil && (c.Name != filepath.Base(c.Name) || c.Name == "." || c.Name == "..") {
			err = fmt.Errorf("the backup has an unexpected file in it: %.40q", c.Name)
		}
		return err
	})
}

// copyDatabase copies a database to a new one, readable only by its owner, and forces it to the
// disk. The log is copied too: a journal that was set aside may have its newest events there.
func copyDatabase(from, to string) error {
	if err := errors.Join(journal.Discard(to), copyFile(from, to)); err != nil {
		return err
	}
	if err := copyFile(from+"-wal", to+"-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyFile(from, to string) error {
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
