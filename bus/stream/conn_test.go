package stream

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot/bus"
)

// TestStoodStill: of what came while this process stood still, as one that is stopped does, nothing reaches the
// reader: the peer has ended the connection by then, and others may have said something since.
func TestStoodStill(t *testing.T) {
	for _, tt := range []struct {
		name string
		late time.Duration
		want error
	}{
		{"for a moment", silence - alive, nil},
		{"for too long", silence + alive, errSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConn(new(bus.Local), "there", "here", new(atomic.Int64))
				defer c.late.Stop()
				c.take(bus.Message{Data: message{kind: kindAlive}.encode()})
				time.Sleep(tt.late)
				c.take(bus.Message{Data: message{kind: kindData, number: 1, data: []byte("late")}.encode()})
				passed := tt.want == nil
				if n := len(c.waits); !errors.Is(c.err, tt.want) || (n == 1) != passed {
					t.Errorf("%v, with %d messages for the reader", c.err, n)
				}
			})
		})
	}
}
