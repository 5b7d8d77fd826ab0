package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// settle finishes a salvage that was cut short, if there was one, and removes an unfinished copy of
// the journal. The new file gets its final name only after the old one was set aside, so if there
// is a new file but no journal, the new file is complete.
func settle(path string, now time.Time) error {
	fresh := filepath.Join(filepath.Dir(path), salvageFile)
	_, there, err := size(path)
	err = errors.Join(err, discard(filepath.Join(filepath.Dir(path), rewriteFile)))
	if err != nil {
		return err
	}
	if there {
		return discard(fresh)
	}
	if _, ready, err := size(fresh); err != nil || !ready {
		return err
	}
	if _, err := aside(path, wasDamaged, now); err != nil { // the files that SQLite kept beside the old one
		return err
	}
	return replace(fresh, path)
}

// The reasons for which a journal is set aside.
const (
	wasDamaged  = "damaged"
	wasReplaced = "replaced"
)

// aside renames the file at path, and the files beside it, for a reason, so that nothing is ever
// written to them again. It returns the new name.
func aside(path, why string, now time.Time) (string, error) {
	base := path + "." + why + "-" + now.UTC().Format("20060102T150405Z")
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	for _, ending := range append([]string{""}, beside...) {
		err := os.Rename(path+ending, name+ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return name, flush(filepath.Dir(path))
}

// taken reports whether there is a file with that name, or a file beside one.
func taken(name string) bool {
	for _, ending := range append([]string{""}, beside...) {
		if _, err := os.Lstat(name + ending); err == nil {
			return true
		}
	}
	return false
}

// shut closes the database of a new file, after emptying its log unless err is already set. The log
// belongs to the current name and would not follow a rename. On a full disk, SQLite would leave
// content in it without returning an error.
func shut(ctx context.Context, db *sql.DB, err error) error {
	if err == nil {
		var busy, frames, moved int
		err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	}
	return errors.Join(err, db.Close())
}

// replace renames the complete file at fresh to path, which must be free.
func replace(fresh, path string) error {
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return flush(filepath.Dir(path))
}

// discard removes an unfinished file, and the files beside it.
func discard(path string) error { return remove(path, append([]string{""}, beside...)) }

// remove removes the files with some endings that are there.
func remove(path string, endings []string) error {
	for _, ending := range endings {
		if err := os.Remove(path + ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// flush forces the names in a directory to the disk.
func flush(directory string) error {
	d, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
