package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The reasons for which a journal is set aside.
const (
	ReasonDamaged  = "damaged"
	ReasonReplaced = "replaced"
)

// SetAside renames the file at path, and the files beside it, for a reason, so that nothing is ever
// written to them again. It returns the new name.
func SetAside(path, why string, now time.Time) (string, error) {
	base := path + "." + why + "-" + now.UTC().Format("20060102T150405Z")
	name := base
	for n := 2; nameExists(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	for _, ending := range allSuffixes {
		err := os.Rename(path+ending, name+ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return name, syncDirectory(filepath.Dir(path))
}

// nameExists reports whether there is a file with that name, or a file beside one.
func nameExists(name string) bool {
	return slices.ContainsFunc(allSuffixes, func(ending string) bool {
		_, err := os.Lstat(name + ending)
		return err == nil
	})
}

// CloseNew closes the database of a new file, after emptying its log unless err is already set. The
// log belongs to the current name and would not follow a rename. On a full disk, SQLite would leave
// content in it without returning an error.
func CloseNew(ctx context.Context, db *sql.DB, err error) error {
	if err == nil {
		var busy, frames, moved int
		err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	}
	return errors.Join(err, db.Close())
}

// Install renames the complete file at fresh to path, which must be free.
func Install(fresh, path string) error {
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// RemoveSideFiles removes the files beside a database.
func RemoveSideFiles(path string) error { return remove(path, sideSuffixes) }

// Discard removes an unfinished file, and the files beside it.
func Discard(path string) error { return remove(path, allSuffixes) }

// remove removes the files with some endings that are there.
func remove(path string, endings []string) error {
	for _, ending := range endings {
		if err := os.Remove(path + ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncDirectory(directory string) error {
	d, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Sync forces a file and its name to the disk.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), syncDirectory(filepath.Dir(path)))
}

// zeros are written over a file.
var zeros [65536]byte

// Shred overwrites a file and removes it.
func Shred(path string) (err error) {
	bytes, there, err := Size(path)
	if err != nil || !there {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for left := bytes; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = f.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Remove(path), syncDirectory(filepath.Dir(path)))
}
