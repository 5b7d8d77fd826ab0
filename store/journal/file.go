// Package journal is the file in which events are kept: how SQLite opens it, its tables, and the
// rows of its table of events, of which each has a checksum. The file is read by queries in which
// the table of events is called j; a [Selection] says which events are to be looked at or erased.
// Its errors say what is wrong with the file, and what to do.
package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
)

// The files of a data directory.
const (
	FileName    = "earshot.db"
	SalvageName = "earshot.db.salvage" // becomes the journal when it is complete
	RewriteName = "earshot.db.rewrite" // the same, but is never complete when the store is opened
)

// allSuffixes are the suffixes of a database, the empty one, and of the files that SQLite keeps
// beside it.
var (
	allSuffixes  = []string{"", "-wal", "-shm"}
	sideSuffixes = allSuffixes[1:]
)

// always is set on every connection. Sorting and rollback stay in memory, so that nothing of a
// conversation gets into the directory for temporary files. busy_timeout is how many milliseconds a
// connection waits for another program's lock.
var always = []string{"temp_store(MEMORY)", "busy_timeout(5000)", "trusted_schema(0)"}

// open opens the file at path with some pragmas, for at most as many connections.
func open(path string, connections int, query url.Values, pragmas ...string) (*sql.DB, error) {
	query["_pragma"] = append(slices.Clone(always), pragmas...)
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	db, err := openDB(u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// OpenWriter opens the file at path for the one connection that writes. What is committed has been
// forced to the disk; deleted content is overwritten; the log beside the file stays within 32 MiB.
func OpenWriter(path string) (*sql.DB, error) {
	return open(path, 1, url.Values{"_txlock": {"immediate"}}, "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)", "journal_size_limit(33554432)")
}

// MaxReaders is how many queries run at once; the next one waits.
const MaxReaders = 4

// OpenReaders opens the file at path for read-only connections. They change nothing in it, even
// when they are the last to close it.
func OpenReaders(path string) (*sql.DB, error) {
	return open(path, MaxReaders, url.Values{"mode": {"ro"}}, "query_only(1)")
}

// OpenCopy opens a copy of the journal for changes that need not survive a crash.
func OpenCopy(path string) (*sql.DB, error) {
	return open(path, 1, url.Values{"_txlock": {"immediate"}}, "journal_mode(MEMORY)", "synchronous(FULL)", "secure_delete(1)")
}

// Vacuum writes the contents of the journal at path into the empty file at into. The journal is
// opened read-only, on a connection that may create another file.
func Vacuum(ctx context.Context, path, into string) error {
	db, err := open(path, 1, url.Values{"mode": {"ro"}}, "secure_delete(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", into)
	return err
}

// Touch creates the file at path if it is missing, and in any case makes it readable only by its
// owner. SQLite gives the files beside it the same mode.
func Touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// Size returns the length of the file at path, and whether it exists.
func Size(path string) (int64, bool, error) {
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

// CheckHeader returns an [ErrDamaged] if the file at path cannot be a database that we may write.
// SQLite takes a file with an incomplete header for a new database, and one whose header asks for a
// newer SQLite for a read-only one.
//
// It must not be called while this process has the file open as a database, because that would lose
// its locks.
func CheckHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the journal: %w: give it back to the user that runs earshot", err)
	}
	defer f.Close()
	var head [512]byte // the smallest page
	_, err = f.ReadAt(head[:], 0)
	switch {
	case errors.Is(err, io.EOF):
		return Damaged(path, errors.New("it is shorter than one page"))
	case err != nil:
		return fmt.Errorf("opening the journal: %w", err)
	case !strings.HasPrefix(string(head[:]), "SQLite format 3\x00"):
		return Damaged(path, errors.New("it is not a database"))
	case head[18] < 1 || head[18] > 2 || head[19] < 1 || head[19] > 2:
		return Damaged(path, errors.New("it needs a newer SQLite"))
	}
	return nil
}

// CheckContents looks for damage in the open file, and returns the first that it finds. It reads
// everything, some 100 MB a second, so it is called only when there is a reason for suspicion.
func CheckContents(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return errors.New(strings.ReplaceAll(said, "\n", " "))
	}
	rows, err := db.QueryContext(ctx, "SELECT sequence, payload, sum FROM journal")
	return EachRow(rows, err, func(rows *sql.Rows) error {
		var r Row
		err := r.Scan(rows)
		if err == nil && !r.Intact() {
			err = fmt.Errorf("event %d was changed after it was written", r.Sequence)
		}
		return err
	})
}
