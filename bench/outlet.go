package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"

	"earshot"
	"earshot/internal/terminal"
	"earshot/outlets/console"
)

// A sink is an outlet in memory: whatever it is told has been heard.
type sink struct{}

// Name implements [earshot.Outlet].
func (sink) Name() string { return "sink" }

// Flows implements [earshot.Flowing].
func (sink) Flows() bool { return true }

// Open implements [earshot.Outlet].
func (sink) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return &sunk{heard: heard}, nil
}

// sunk is one speech into a sink.
type sunk struct {
	heard func(earshot.Heard)

	mu sync.Mutex // held while heard is called, so that nothing follows the end
	at earshot.Heard
}

// Say implements [earshot.Speaking].
func (s *sunk) Say(c earshot.Clause) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.End {
		s.at.Clause, s.at.Byte = c.N, len(c.Text)
		s.heard(s.at)
	}
	return nil
}

// Do implements [earshot.Speaking].
func (s *sunk) Do(c earshot.Control) {
	if c == earshot.Cut {
		s.Finish()
	}
}

// Finish implements [earshot.Speaking].
func (s *sunk) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.End {
		s.at.End = true
		s.heard(s.at)
	}
}

// An ear stands before an outlet and notes when something is heard from it. A
// speech is listened to by one goroutine, which receives all that it sends.
type ear struct {
	earshot.Outlet
	after atomic.Int64   // how many positions make a speech that is going on
	first chan time.Time // when the first position of a speech came
	going chan struct{}  // a speech has got that far
	ended chan time.Time // its last
}

// listen puts an ear before o.
func listen(o earshot.Outlet) *ear {
	e := &ear{Outlet: o, first: make(chan time.Time, 4), going: make(chan struct{}, 4), ended: make(chan time.Time, 4)}
	e.after.Store(1)
	return e
}

// outlet returns e as the room may know it: what is behind it flows, or is a
// voice.
func (e *ear) outlet() earshot.Outlet {
	if a, ok := e.Outlet.(earshot.Audible); ok && a.Audible() {
		return voiced{e}
	}
	return flowing{e}
}

// Flowing is an ear before an outlet that takes whatever comes, as it comes.
type flowing struct{ *ear }

// Flows implements [earshot.Flowing].
func (flowing) Flows() bool { return true }

// Voiced is an ear before a voice.
type voiced struct{ *ear }

// Audible implements [earshot.Audible].
func (voiced) Audible() bool { return true }

// Open implements [earshot.Outlet].
func (e *ear) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	positions, after := 0, int(e.after.Load())
	return e.Outlet.Open(ctx, o, func(h earshot.Heard) {
		at := time.Now()
		heard(h)
		if h.End {
			e.ended <- at
			return
		}
		if positions++; positions == 1 {
			e.first <- at
		}
		if positions == after {
			e.going <- struct{}{}
		}
	})
}

// A screen is the console on a pseudo-terminal. Whoever looks at it is another
// process, as a terminal is: a goroutine that waits for it in a read would take
// a core's place from those that are measured.
type screen struct {
	*console.Console
	term   *terminal.Terminal
	slave  *os.File
	viewer *exec.Cmd
}

// openScreen returns a console on a pseudo-terminal.
func openScreen() (*screen, error) {
	user, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer user.Close() // the viewer has its own
	s := &screen{slave: slave, viewer: exec.Command("cat")}
	s.viewer.Stdin = user
	if err := errors.Join(pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 80}), s.viewer.Start()); err != nil {
		return nil, errors.Join(err, slave.Close())
	}
	if s.term, err = terminal.Open(slave, slave, slave); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	s.Console = console.New(console.Config{Outlet: "console"}, s.term)
	return s, nil
}

// Close gives everything back.
func (s *screen) Close() error { return errors.Join(s.term.Close(), s.shut()) }

// shut closes the terminal, which ends the viewer, with an error of its own.
func (s *screen) shut() error {
	err := s.slave.Close()
	s.viewer.Wait()
	return err
}
