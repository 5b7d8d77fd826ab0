package helpertest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo sends everything back.
func echo(_ context.Context, s *helper.Server) error {
	var g errgroup.Group
	g.Go(func() error { return s.Controls(func(c helper.Control) error { return s.Send(c.Name, c.Body) }) })
	g.Go(func() error { return s.Sounds(func(m helper.Sound) error { return s.SendSound(m.Stream, m.Data) }) })
	return g.Wait()
}

func waitForEnd(ctx context.Context, _ *helper.Server) error {
	<-ctx.Done()
	return ctx.Err()
}

// anything accepts whatever comes.
var anything = helper.Handler{
	Control: func(helper.Control) error { return nil },
	Sound:   func(helper.Sound) error { return nil },
}

// TestDeaths: a fake dies of the same causes as a process, at exactly the same times.
func TestDeaths(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		work  func(context.Context, *helper.Server) error
		want  error
		after time.Duration
	}{
		{"ends", func(context.Context, *helper.Server) error { return nil }, helper.ErrDied, 0},
		{"breaks", func(context.Context, *helper.Server) error { return broken }, broken, 0},
		{"has died when it breaks", func(context.Context, *helper.Server) error { return broken }, helper.ErrDied, 0},
		{"breaks later", func(context.Context, *helper.Server) error { time.Sleep(time.Hour); return broken }, broken, time.Hour},
		{"is stuck", func(ctx context.Context, s *helper.Server) error {
			s.Guard(1200 * time.Millisecond)
			return waitForEnd(ctx, s)
		}, helper.ErrHung, 3 * helper.Beat},
		{"floods", func(_ context.Context, s *helper.Server) error {
			for s.Send("more", nil) == nil {
			}
			return nil
		}, helper.ErrProtocol, 0},
		{"sounds without end", func(_ context.Context, s *helper.Server) error {
			for s.SendSound(0, nil) == nil {
			}
			return nil
		}, helper.ErrProtocol, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := helpertest.New("fake", tt.work).Run(t.Context(), anything)
				death, ok := errors.AsType[*helper.DeathError](err)
				if !ok || death.Name != "fake" || !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				if took := time.Since(began); took != tt.after {
					t.Errorf("after %v, want %v", took, tt.after)
				}
			})
		})
	}
}

// running runs a link until the returned function is called.
func running(t *testing.T, l helper.Link, h helper.Handler) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx, h) }()
	return func() error {
		cancel()
		return <-done
	}
}

// TestLeaving: work that heeds its input ends at once. Work that only waits for its context ends
// half a second later, when a process would be killed.
func TestLeaving(t *testing.T) {
	for _, tt := range []struct {
		name string
		work func(context.Context, *helper.Server) error
		want time.Duration
	}{
		{"heeds its input", echo, 0},
		{"waits to be killed", waitForEnd, 500 * time.Millisecond},
		{"sends on", func(_ context.Context, s *helper.Server) error {
			for {
				if err := s.SendSound(0, nil); err != nil {
					return err
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, 500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := helpertest.New("fake", tt.work)
				stop := running(t, l, anything)
				time.Sleep(time.Hour + time.Millisecond)
				began := time.Now()
				err := stop()
				if took := time.Since(began); err != nil || took < tt.want || took > tt.want+20*time.Millisecond {
					t.Errorf("after %v: %v, want nil after %v", took, err, tt.want)
				}
				if err := errors.Join(l.Send("late", nil), l.SendSound(0, nil)); !errors.Is(err, helper.ErrGone) {
					t.Errorf("sending to nobody: %v", err)
				}
			})
		})
	}
}

func TestEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, err := helpertest.Dialer("fake", echo)()
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var heard strings.Builder
		hear := func(what string) error {
			mu.Lock()
			defer mu.Unlock()
			heard.WriteString(what)
			return nil
		}
		stop := running(t, link, helper.Handler{
			Control: func(c helper.Control) error { return hear(c.Name) },
			Sound:   func(s helper.Sound) error { return hear(string(s.Data)) },
		})
		for _, what := range []string{"one", "two", "three"} {
			if err := link.Send(what, nil); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if err := link.SendSound(0, []byte(what)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if err := stop(); err != nil || heard.String() != "oneonetwotwothreethree" {
			t.Errorf("heard %q, %v", heard.String(), err)
		}
	})
}

// TestDeaf: a fake that does not read its control messages counts as hung, as a process does.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := helpertest.New("fake", waitForEnd)
		began := time.Now()
		var sending sync.WaitGroup
		defer sending.Wait()
		sending.Go(func() {
			if err := l.Send("listen", nil); !errors.Is(err, helper.ErrGone) {
				t.Errorf("sending: %v", err)
			}
		})
		sending.Go(func() {
			if err := l.SendSound(0, nil); !errors.Is(err, helper.ErrGone) {
				t.Errorf("sending sound: %v", err)
			}
		})
		err := l.Run(t.Context(), anything)
		if took := time.Since(began); !errors.Is(err, helper.ErrHung) || took != 6*helper.Beat {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
