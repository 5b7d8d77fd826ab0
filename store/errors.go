package store

import (
	"errors"
	"fmt"

	"earshot/store/edit"
	"earshot/store/journal"
)

// The errors that a caller of the store may have to decide about. Each error that wraps one of
// these names the file and what to do.
var (
	// ErrFull says that the disk accepted nothing: it is full, or it fails. Nothing of the call was
	// kept. A later call succeeds by itself once there is room.
	ErrFull = journal.ErrFull

	// ErrDamaged says that the file no longer holds what was written to it.
	ErrDamaged = journal.ErrDamaged

	// ErrOther says that the file was made by another version of the program.
	ErrOther = journal.ErrOther

	// ErrInDoubt says that the caller stopped waiting while its events were
	// on their way to the disk. Calling again with the same IDs is safe.
	ErrInDoubt = errors.New("not known whether it was kept")

	// ErrTaken says that another event already has the ID of this one.
	ErrTaken = edit.ErrTaken

	// ErrFenced says that the room of an event is another daemon's by now. Nothing of the call was kept.
	ErrFenced = errors.New("the room is another daemon's")

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
