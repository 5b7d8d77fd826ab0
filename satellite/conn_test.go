package satellite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"earshot/bus"
	"earshot/internal/helper"
	"earshot/satellite"
)

// A tap is a bus on which a test sees what is published, and may publish something else instead.
type tap struct {
	*bus.Local
	turn func(subject string, data []byte) [][]byte // nil passes all
	fail atomic.Bool
}

func (b *tap) Publish(subject string, data []byte) error {
	if b.fail.Load() {
		return bus.ErrFull
	}
	if b.turn == nil {
		return b.Local.Publish(subject, data)
	}
	for _, d := range b.turn(subject, data) {
		if err := b.Local.Publish(subject, d); err != nil {
			return err
		}
	}
	return nil
}

// pair opens both ends of session 7 on a bus, and returns how many messages of other sessions came to
// the hub.
func pair(t *testing.T, b bus.Bus) (hub, far *satellite.Conn, old *atomic.Int64) {
	t.Helper()
	old = new(atomic.Int64)
	hub, err := satellite.OpenHub(t.Context(), b, "kitchen", 7, old)
	if err == nil {
		far, err = satellite.Open(t.Context(), b, "kitchen", 7, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return hub, far, old
}

// controls collects the names of the control messages that come to c, until it ends.
func controls(c *satellite.Conn) (names *[]string, ended func() error) {
	names = new([]string)
	var err error
	var reading sync.WaitGroup
	reading.Go(func() {
		err = c.Controls(func(m helper.Control) error {
			*names = append(*names, m.Name)
			return nil
		})
	})
	return names, func() error { reading.Wait(); return err }
}

// TestConn: control and sound go both ways, whole and in order.
func TestConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, far, old := pair(t, new(bus.Local))
		for _, ends := range [][2]*satellite.Conn{{hub, far}, {far, hub}} {
			from, to := ends[0], ends[1]
			names, ended := controls(to)
			var heard []int
			var sounds sync.WaitGroup
			sounds.Go(func() {
				to.Sounds(func(s helper.Sound) error {
					heard = append(heard, int(s.Stream))
					return nil
				})
			})
			var want []string
			for i := range 100 {
				want = append(want, fmt.Sprint("m", i))
				if err := errors.Join(from.Send(want[i], nil), from.SendSound(uint32(i), make([]byte, 100*(i%60)))); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			to.HangUp()
			if err := ended(); err != io.EOF {
				t.Errorf("it ended with %v", err)
			}
			sounds.Wait()
			if !slices.Equal(*names, want) || len(heard) != 100 || !slices.IsSorted(heard) {
				t.Errorf("%v and %v came", *names, heard)
			}
		}
		if old.Load() != 0 {
			t.Errorf("%d messages counted as of other sessions", old.Load())
		}
		hub.Close()
		far.Close()
	})
}

// TestConnGaps: a message that is missing, comes twice, out of order or again later ends the session;
// one of another session, or that is none, is counted and ignored.
func TestConnGaps(t *testing.T) {
	var kept [][]byte // of what was published so far
	other := func(d []byte, session uint64) []byte {
		d = slices.Clone(d)
		binary.LittleEndian.PutUint64(d, session)
		return d
	}
	for _, tt := range []struct {
		name string
		turn func(n int, d []byte) [][]byte // of the nth message
		want []string
		gap  bool
		old  int64
	}{
		{"whole", func(n int, d []byte) [][]byte { return [][]byte{d} }, []string{"a", "b", "c"}, false, 0},
		{"missing", func(n int, d []byte) [][]byte { return [][]byte{d}[:n%2^1] }, []string{"a"}, true, 0},
		{"twice", func(n int, d []byte) [][]byte { return [][]byte{d, d} }, []string{"a"}, true, 0},
		{"replayed", func(n int, d []byte) [][]byte {
			if n == 2 {
				return [][]byte{kept[0], d}
			}
			return [][]byte{d}
		}, []string{"a", "b"}, true, 0},
		{"an older session", func(n int, d []byte) [][]byte { return [][]byte{other(d, 6), d, other(d, 8)} }, []string{"a", "b", "c"}, false, 6},
		{"no message", func(n int, d []byte) [][]byte { return [][]byte{{}, d[:15], d} }, []string{"a", "b", "c"}, false, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept = nil
				b := &tap{Local: new(bus.Local)}
				b.turn = func(_ string, d []byte) [][]byte {
					kept = append(kept, slices.Clone(d))
					return tt.turn(len(kept)-1, d)
				}
				hub, far, old := pair(t, b)
				defer far.Close()
				defer hub.Close()
				names, ended := controls(hub)
				for _, name := range []string{"a", "b", "c"} {
					if err := far.Send(name, nil); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				hub.HangUp()
				if err := ended(); errors.Is(err, satellite.ErrGap) != tt.gap {
					t.Errorf("it ended with %v", err)
				}
				if !slices.Equal(*names, tt.want) || old.Load() != tt.old {
					t.Errorf("%q came, and %d of other sessions; want %q and %d", *names, old.Load(), tt.want, tt.old)
				}
			})
		})
	}
}

// TestConnRefused: what the bus does not take is an error here, and a gap there.
func TestConnRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &tap{Local: new(bus.Local)}
		hub, far, _ := pair(t, b)
		defer far.Close()
		defer hub.Close()
		_, ended := controls(hub)
		b.fail.Store(true)
		if err := far.Send("a", nil); !errors.Is(err, helper.ErrGone) || !errors.Is(err, bus.ErrFull) {
			t.Errorf("sending: %v", err)
		}
		b.fail.Store(false)
		if err := far.Send("b", nil); err != nil {
			t.Fatal(err)
		}
		if err := ended(); !errors.Is(err, satellite.ErrGap) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestConnSlow: a reader that does not read ends the session after some megabytes, which is all that
// it costs.
func TestConnSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, far, _ := pair(t, new(bus.Local))
		defer far.Close()
		defer hub.Close()
		for range 50 {
			if err := far.SendSound(1, make([]byte, helper.MaxSound)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		n := 0
		err := hub.Sounds(func(s helper.Sound) error { n += len(s.Data); return nil })
		if !errors.Is(err, satellite.ErrGap) || n > 2<<20 || n < 1<<20 {
			t.Errorf("%d bytes came, then %v", n, err)
		}
	})
}

// TestConnClose: closing ends readers, also while nothing comes, and may be done twice.
func TestConnClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, far, _ := pair(t, new(bus.Local))
		_, ended := controls(hub)
		synctest.Wait()
		hub.Close()
		if err := ended(); err != io.EOF {
			t.Errorf("it ended with %v", err)
		}
		far.Close()
		if err := far.Send("late", nil); err != nil {
			t.Errorf("sending to nobody: %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := satellite.OpenHub(ctx, new(bus.Local), "a b", 1, nil)
	if err == nil {
		c.Close()
		t.Error("a subject with a space was subscribed to")
	}
}
