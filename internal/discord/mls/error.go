package mls

import (
	"errors"
	"fmt"
)

// An Error says that external input violates the protocol, or that the caller asks for something
// the protocol does not allow.
type Error struct {
	Section string // of RFC 9420
	Reason  string
}

func (e *Error) Error() string { return "mls: " + e.Reason + " (RFC 9420, section " + e.Section + ")" }

func faultf(section, format string, args ...any) error {
	return &Error{Section: section, Reason: fmt.Sprintf(format, args...)}
}

// ErrRemoved says that a commit has removed the member who applies it.
var ErrRemoved = errors.New("mls: removed from the group")

// ErrCleared says that the necessary secrets have been overwritten.
var ErrCleared = errors.New("mls: secrets have been cleared")
