package mls

import (
	"errors"
	"fmt"
)

// An Error is that something from outside is not as the protocol demands, or that
// the caller asks for what it does not allow.
type Error struct {
	Section string // of RFC 9420
	Reason  string
}

func (e *Error) Error() string { return "mls: " + e.Reason + " (RFC 9420, section " + e.Section + ")" }

func faultf(section, format string, args ...any) error {
	return &Error{Section: section, Reason: fmt.Sprintf(format, args...)}
}

// ErrRemoved is that a commit has removed the one who applies it.
var ErrRemoved = errors.New("mls: removed from the group")

// ErrCleared is that the secrets which would be needed have been overwritten.
var ErrCleared = errors.New("mls: secrets have been cleared")
