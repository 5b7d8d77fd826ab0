package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that a caller of the store may have to decide about. Each error that wraps one of
// these names the file and what to do.
var (
	// ErrFull says that the disk accepted nothing: it is full, or it fails. Nothing of the call was
	// kept. A later call succeeds by itself once there is room.
	ErrFull = errors.New("the journal cannot be written")

	// ErrDamaged says that the file no longer holds what was written to it.
	ErrDamaged = errors.New("the journal is damaged")

	// ErrOther says that the file was made by another version of the program.
	ErrOther = errors.New("the journal is of another version")

	// ErrInDoubt says that the caller stopped waiting while its events were
	// on their way to the disk. Calling again with the same IDs is safe.
	ErrInDoubt = errors.New("not known whether it was kept")

	// ErrTaken says that another event already has the ID of this one.
	ErrTaken = errors.New("the ID belongs to another event")

	// ErrClosed says that the store was closed first. Nothing was kept.
	ErrClosed = errors.New("the journal is closed")
)

// ErrLocked says that another daemon owns the directory.
type ErrLocked struct {
	Directory string
	PID       int // 0 if it could not be read
}

// Error names the owner.
func (e *ErrLocked) Error() string {
	who := "another earshot"
	if e.PID != 0 {
		who = fmt.Sprintf("the earshot with process id %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by %s: attach to that one, or stop it", e.Directory, who)
}

// code returns the primary SQLite result code in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// kept wraps err, an SQLite error about the file at path, in the error that says what to do. The
// texts of SQLite name tables and constraints, and never repeat a value.
func kept(path string, err error) error {
	if errors.Is(err, errAltered) || errors.Is(err, errStrange) {
		return damaged(path, err)
	}
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %s: the disk is full: make room, and it goes on by itself: %w", ErrFull, path, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %s: the disk fails or is full: make room or look at the system's log: %w", ErrFull, path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %s: earshot may not write it: give it back to the user that runs earshot: %w", ErrFull, path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT: // our own data breaks no constraint
		return damaged(path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%s: another program has locked it: close that program: %w", path, err)
	}
	return err
}

// A damage is an [ErrDamaged] with its reason.
type damage struct {
	path string
	why  error
}

// damaged returns the error that the file at path is damaged, because of why.
func damaged(path string, why error) error { return &damage{path, why} }

func (d *damage) Error() string {
	return fmt.Sprintf("%v: %s: the daemon sets the file aside and saves what can be read; start it if it does not run: %v", ErrDamaged, d.path, d.why)
}

func (d *damage) Is(target error) bool { return target == ErrDamaged }
func (d *damage) Unwrap() error        { return d.why }
