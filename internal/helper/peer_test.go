package helper_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/helper"
)

// A short process has ended before anybody waits for it, so its pipes can be read to their end.
type short struct{}

func (short) HangUp()                    {}
func (short) Kill()                      {}
func (short) Wait(context.Context) error { return nil }

// A slow process closes its pipes, and has ended some time later, or when it is killed.
type slow struct {
	takes  time.Duration
	killed chan struct{}
	once   sync.Once
}

func (*slow) HangUp() {}
func (l *slow) Kill() { l.once.Do(func() { close(l.killed) }) }

func (l *slow) Wait(context.Context) error {
	select {
	case <-time.After(l.takes):
		return errors.New("signal: killed")
	case <-l.killed:
		return errors.New("killed by earshot")
	}
}

// TestSlowDeath: a helper whose pipes are both closed has died, however long the machine takes to end
// it. One that closes only one of them breaks the protocol.
func TestSlowDeath(t *testing.T) {
	greeting := message(`{"name":"hello","body":{"version":1}}`)
	for _, tt := range []struct {
		name  string
		sound func() io.Reader
		want  error
	}{
		{"both closed", func() io.Reader { return bytes.NewReader(nil) }, helper.ErrDied},
		{"one closed", func() io.Reader { open, _ := io.Pipe(); return open }, helper.ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sound := tt.sound()
				l := &slow{takes: helper.HastyGrace() * 2, killed: make(chan struct{})}
				go func() { // the system closes the pipes of a process that has ended
					select {
					case <-time.After(l.takes):
					case <-l.killed:
					}
					if c, open := sound.(io.Closer); open {
						c.Close()
					}
				}()
				p := helper.NewPeer("slow", receiver(bytes.NewReader(greeting), sound), l)
				err := p.Run(t.Context(), helper.Handler{Control: func(helper.Control) error { return nil }, Sound: func(helper.Sound) error { return nil }})
				if !errors.Is(err, tt.want) {
					t.Errorf("it died of %v, want %v", err, tt.want)
				}
			})
		})
	}
}

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
