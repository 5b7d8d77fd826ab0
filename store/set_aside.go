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

// settle finishes a salvage that was cut short, if there was one. The new file
// is named as it should be when the old one is away, so if there is no journal
// but a new file, the new file is whole.
func settle(path string, now time.Time) error {
	fresh := filepath.Join(filepath.Dir(path), salvageFile)
	_, there, err := size(path)
	if err != nil {
		return err
	}
	if there {
		return discard(fresh)
	}
	if _, ready, err := size(fresh); err != nil || !ready {
		return err
	}
	if _, err := aside(path, wasDamaged, now); err != nil { // what SQLite kept beside the old one
		return err
	}
	return replace(fresh, path)
}

// The reasons for which a journal is set aside.
const (
	wasDamaged  = "damaged"
	wasReplaced = "replaced"
)

// aside renames the file at path, and what lies beside it, for a reason, so that nothing is
// ever written to them again. It returns the new name.
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

// taken reports whether there is a file of that name, or one beside it.
func taken(name string) bool {
	for _, ending := range append([]string{""}, beside...) {
		if _, err := os.Lstat(name + ending); err == nil {
			return true
		}
	}
	return false
}

// shut closes the database of a new file, unless what is done with it has failed already.
// None of it is left in the log beside it then, which keeps another name: where the disk is
// full SQLite would leave it there, and say nothing.
func shut(ctx context.Context, db *sql.DB, err error) error {
	if err == nil {
		var busy, frames, moved int
		err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	}
	return errors.Join(err, db.Close())
}

// replace gives the whole file at fresh the name path, which is free.
func replace(fresh, path string) error {
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return flush(filepath.Dir(path))
}

// discard removes a file that was being made, and what lies beside it.
func discard(path string) error {
	for _, ending := range append([]string{""}, beside...) {
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
