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
	"strings"
)

// The files of a data directory.
const (
	journalFile = "earshot.db"
	lockFile    = "lock"
	salvageFile = "earshot.db.salvage" // becomes the journal when it is complete
	rewriteFile = "earshot.db.rewrite" // the same, but is never complete when the store is opened
)

// beside are the suffixes of the files that SQLite keeps beside a database.
var beside = []string{"-wal", "-shm"}

// always is set on every connection. Sorting and rollback stay in memory, so that nothing of a
// conversation gets into the directory for temporary files. busy_timeout is how many milliseconds a
// connection waits for another program's lock.
var always = []string{"temp_store(MEMORY)", "busy_timeout(5000)", "trusted_schema(0)"}

// writing is set on the writer's connection. An acknowledged event has been forced to the disk;
// deleted content is overwritten; the log beside the file stays within 32 MiB.
var writing = []string{"journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)", "journal_size_limit(33554432)"}

// address returns the name under which the driver opens the file at path.
func address(path string, query url.Values, pragmas ...[]string) string {
	for _, list := range pragmas {
		for _, p := range list {
			query.Add("_pragma", p)
		}
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	return u.String()
}

// openWriter opens the file at path for the one connection that writes. The driver is registered as
// sqlite because errors.go imports it.
func openWriter(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", address(path, url.Values{"_txlock": {"immediate"}}, always, writing))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// readers is how many queries run at once; the next one waits.
const readers = 4

// openReaders opens the file at path for read-only connections. They change nothing in it, even
// when they are the last to close it.
func openReaders(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", address(path, url.Values{"mode": {"ro"}}, always, []string{"query_only(1)"}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}

// prepare creates the directory, accessible only to its owner. An existing directory keeps its
// mode, since it may hold other files too; our files in it do not.
func prepare(directory string) error {
	if !filepath.IsAbs(directory) {
		return fmt.Errorf("opening the journal: the directory %q is not an absolute path", directory)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return fmt.Errorf("making the directory of the journal: %w: choose another as store.directory", err)
	}
	return nil
}

// touch creates the file at path if it is missing, and in any case makes it readable only by its
// owner. SQLite gives the files beside it the same mode.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// size returns the length of the file at path, and whether it exists.
func size(path string) (int64, bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if !info.Mode().IsRegular() {
		return 0, true, fmt.Errorf("%s is not a plain file: move it away, or choose another store.directory", path)
	}
	return info.Size(), true, nil
}

// head returns an [ErrDamaged] if the file at path cannot be a database that we may write. SQLite
// takes a file with an incomplete header for a new database, and one whose header asks for a newer
// SQLite for a read-only one.
//
// It must not be called while this process has the file open as a database, because that would lose
// its locks.
func head(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the journal: %w: give it back to the user that runs earshot", err)
	}
	defer f.Close()
	var head [512]byte // the smallest page
	_, err = f.ReadAt(head[:], 0)
	switch {
	case errors.Is(err, io.EOF):
		return damaged(path, errors.New("it is shorter than one page"))
	case err != nil:
		return fmt.Errorf("opening the journal: %w", err)
	case !strings.HasPrefix(string(head[:]), "SQLite format 3\x00"):
		return damaged(path, errors.New("it is not a database"))
	case head[18] < 1 || head[18] > 2 || head[19] < 1 || head[19] > 2:
		return damaged(path, errors.New("it needs a newer SQLite"))
	}
	return nil
}

// sound looks for damage in the open file, and returns the first that it finds. It reads
// everything, some 100 MB a second, so it is called only when there is a reason for suspicion.
func sound(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return errors.New(strings.ReplaceAll(said, "\n", " "))
	}
	rows, err := db.QueryContext(ctx, "SELECT sequence, payload, sum FROM journal")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := r.scan(rows); err != nil {
			return err
		}
		if !r.whole() {
			return fmt.Errorf("event %d was changed after it was written", r.sequence)
		}
	}
	return rows.Err()
}
