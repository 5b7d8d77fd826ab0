package helper_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"earshot/internal/helper"
)

// A short process has ended before anybody waits for it, so its pipes can be read to their end.
type short struct{}

func (short) HangUp()                    {}
func (short) Kill()                      {}
func (short) Wait(context.Context) error { return nil }

// greets reports whether control begins with a good hello.
func greets(control []byte) (good bool) {
	over := errors.New("over")
	receiver(bytes.NewReader(control), nil).Controls(func(c helper.Control) error {
		var hello struct {
			Version int
			Name    string
		}
		good = c.Name == "hello" && c.Decode(&hello) == nil && hello.Version == helper.Version
		return over
	})
	return good
}

// FuzzPeer: whatever a helper sends, its end is reported as one of the known kinds of death, and
// the client hears no message that came before hello.
func FuzzPeer(f *testing.F) {
	greeting := message(`{"name":"hello","body":{"version":1}}`)
	f.Add(greeting, message("1234sound"))
	f.Add(append(greeting, message(`{"name":"stuck"}`)...), []byte(nil))
	f.Add(message(`{"name":"beat"}`), []byte{1})
	f.Fuzz(func(t *testing.T, control, sound []byte) {
		greeted := greets(control)
		p := helper.NewPeer("fuzz", receiver(bytes.NewReader(control), bytes.NewReader(sound)), short{})
		err := p.Run(t.Context(), helper.Handler{
			Control: func(c helper.Control) error {
				if !greeted || c.Name == "beat" || c.Name == "stuck" {
					t.Errorf("heard %q", c.Name)
				}
				return nil
			},
			Sound: func(helper.Sound) error { return nil },
		})
		if _, ok := errors.AsType[*helper.DeathError](err); !ok {
			t.Errorf("error %v", err)
		}
		if !errors.Is(err, helper.ErrDied) && !errors.Is(err, helper.ErrProtocol) && !errors.Is(err, helper.ErrHung) {
			t.Errorf("died of %v", err)
		}
	})
}
