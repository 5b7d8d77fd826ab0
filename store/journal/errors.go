package journal

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that a caller may have to decide about. Each error that wraps one of these names the
// file and what to do.
var (
	// ErrFull says that the disk accepted nothing: it is full, or it fails.
	ErrFull = errors.New("the journal cannot be written")

	// ErrDamaged says that the file no longer holds what was written to it.
	ErrDamaged = errors.New("the journal is damaged")

	// ErrOther says that the file was made by another version of the program.
	ErrOther = errors.New("the journal is of another version")
)

// Code returns the primary SQLite result code in err, or 0.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Explain wraps err, an SQLite error about the file at path, in the error that says what to do. The
// texts of SQLite name tables and constraints, and never repeat a value.
func Explain(path string, err error) error {
	if errors.Is(err, ErrAltered) || errors.Is(err, errStrange) {
		return Damaged(path, err)
	}
	switch Code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %s: the disk is full: make room, and it goes on by itself: %w", ErrFull, path, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %s: the disk fails or is full: make room or look at the system's log: %w", ErrFull, path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %s: earshot may not write it: give it back to the user that runs earshot: %w", ErrFull, path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT: // our own data breaks no constraint
		return Damaged(path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%s: another program has locked it: close that program: %w", path, err)
	}
	return err
}

// A damageError is an [ErrDamaged] with its reason.
type damageError struct {
	path string
	why  error
}

// Damaged returns the error that the file at path is damaged, because of why.
func Damaged(path string, why error) error { return &damageError{path, why} }

func (d *damageError) Error() string {
	return fmt.Sprintf("%v: %s: the daemon sets the file aside and saves what can be read; start it if it does not run: %v", ErrDamaged, d.path, d.why)
}

func (d *damageError) Is(target error) bool { return target == ErrDamaged }
func (d *damageError) Unwrap() error        { return d.why }

// StatementError interprets an error of one of our own statements. These are known to be correct,
// so the table is not as we made it. An error about a value of the wrong type is replaced, because
// it repeats the value, which may be what somebody said; it has no type by which it could be
// recognised.
func StatementError(err error) error {
	switch {
	case err == nil:
		return nil
	case Code(err) == sqlite3.SQLITE_ERROR:
		return fmt.Errorf("%w: %w", ErrAltered, err)
	case strings.Contains(err.Error(), "sql: Scan error"):
		return fmt.Errorf("a value of a wrong type: %w", ErrAltered)
	}
	return err
}

// DamageReason returns why a file is damaged, without its name and what to do.
func DamageReason(err error) error {
	if d, ok := errors.AsType[*damageError](err); ok {
		return d.why
	}
	return err
}
