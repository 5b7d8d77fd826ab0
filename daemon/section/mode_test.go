package section

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// A switchboard is a mode that can be switched.
type switchboard struct {
	mu      sync.Mutex
	mode    earshot.Mode
	changed chan struct{}
}

func (s *switchboard) is() (earshot.Mode, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode, s.changed
}

func (s *switchboard) set(m earshot.Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = m
	close(s.changed)
	s.changed = make(chan struct{})
}

// TestWhile: a capture runs in the modes that allow it, and in no other, however quickly they
// change.
func TestWhile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lets  func(earshot.Mode) bool
		modes string // one group a second: live, muted, paused, off the record; modes in a group change at once
		want  string // + it begins, - it ends
	}{
		{"ears", earshot.Mode.Listens, "l m l p l o l", "+-+-+-+"},
		{"ears that are not wanted", earshot.Mode.Listens, "m p m", ""},
		{"ears, muted for a blink", earshot.Mode.Listens, "l ml ml", "+-+-+"},
		{"eyes", earshot.Mode.Watches, "l m l p m o l", "+-+-+"},
		{"eyes that look on", earshot.Mode.Watches, "m l m l m", "+"},
		{"eyes, paused for a blink", earshot.Mode.Watches, "l pl ol", "+-+-+"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &switchboard{changed: make(chan struct{})}
				names := map[rune]earshot.Mode{'l': earshot.Live, 'm': earshot.Muted, 'p': earshot.Paused, 'o': earshot.OffRecord}
				var got strings.Builder
				ctx, stop := context.WithCancel(t.Context())
				var g sync.WaitGroup
				for i, together := range strings.Fields(tt.modes) {
					for _, r := range together {
						s.set(names[r])
					}
					if i == 0 {
						g.Go(func() {
							err := RunInMode(s.is, tt.lets, func(ctx context.Context) error {
								got.WriteByte('+')
								<-ctx.Done()
								got.WriteByte('-')
								return nil
							})(ctx)
							if err != nil {
								t.Error(err)
							}
						})
					}
					time.Sleep(time.Second)
					synctest.Wait()
				}
				if got.String() != tt.want {
					t.Errorf("it did %q, want %q", got.String(), tt.want)
				}
				stop()
				g.Wait()
			})
		})
	}
}

// TestWhileEnds: a capture that ends by itself is over, with its error.
func TestWhileEnds(t *testing.T) {
	s := &switchboard{mode: earshot.Live, changed: make(chan struct{})}
	broken := errors.New("broken")
	err := RunInMode(s.is, earshot.Mode.Listens, func(context.Context) error { return broken })(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("it ended with %v", err)
	}
}
