package wire

import (
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"earshot"
)

// A Refusal is why something was refused, for a person: the body of every answer over HTTP that is
// an error.
type Refusal struct {
	Problem string `json:"error"`
	Mend    string `json:"cure,omitempty"` // the command or the step that mends it
}

// ErrMoved refuses what concerns a room that is between two daemons.
var ErrMoved error = &Refusal{Problem: "no daemon has the room at present", Mend: "ask again in some seconds; if it stays so, see why: earshot cluster status"}

// ErrUnsure is instead of [ErrMoved] where asking again might do something twice.
var ErrUnsure error = &Refusal{Problem: "the connection with the daemon that has the room was lost meanwhile, so it is not known whether this was done", Mend: "look whether it was, and ask again if not"}

// Error returns the problem, and the cure if there is one.
func (r *Refusal) Error() string {
	if r.Mend == "" {
		return r.Problem
	}
	return r.Problem + "; " + r.Mend
}

// Cure returns what mends it.
func (r *Refusal) Cure() string { return r.Mend }

// Explain returns err in the form for a terminal or an HTTP client.
func Explain(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	r := &Refusal{Problem: err.Error()}
	if e, ok := errors.AsType[interface {
		error
		Cure() string
	}](err); ok {
		r.Mend = e.Cure()
	}
	return r
}

// CheckID reports whether a client may give an event this ID: none, or a ULID.
func CheckID(id earshot.EventID) error {
	if id == "" {
		return nil
	}
	if _, err := ulid.ParseStrict(string(id)); err != nil {
		return fmt.Errorf("the id of an event must be a ULID: %w", err)
	}
	return nil
}

// CheckText reports what keeps a room from admitting a message with this text.
func CheckText(t earshot.Text) error {
	switch {
	case len(t) > earshot.MaxText:
		return &Refusal{
			Problem: fmt.Sprintf("the message has %d bytes; a room admits at most %d", len(t), earshot.MaxText),
			Mend:    "send it in parts",
		}
	case t.Blank():
		return errors.New("the message is empty")
	}
	return nil
}
