package terminal

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// asleep is how long Suspend waits to be stopped. Where nobody can continue a
// program, as without a shell, the system does not stop it.
const asleep = 500 * time.Millisecond

// signals is what the system tells us about the terminal.
type signals struct {
	once sync.Once
	ch   chan os.Signal
	wg   sync.WaitGroup
}

// watch follows the size of the window, and takes the terminal again when the
// program is continued after it was stopped.
func (s *signals) watch(t *Terminal) {
	s.ch = make(chan os.Signal, 4)
	signal.Notify(s.ch, syscall.SIGWINCH, syscall.SIGCONT)
	s.wg.Go(func() {
		for sig := range s.ch {
			if sig == syscall.SIGCONT {
				t.raw.again()
				t.onScreen((*screen).enter)
			}
			t.onScreen(func(s *screen) frame { return s.resize(t.size()) })
		}
	})
}

func (s *signals) stop() {
	if s.ch == nil {
		return
	}
	s.once.Do(func() {
		signal.Stop(s.ch)
		close(s.ch)
	})
	s.wg.Wait()
}

// Sleep gives the terminal back and stops the program, as ^Z does, and returns
// when it has been continued.
func (t *Terminal) Sleep() {
	if !t.keys {
		return
	}
	left := make(chan struct{})
	t.onScreen(func(s *screen) frame { return s.leave() })
	t.add(func(renderer) frame { close(left); return frame{} })
	wait(left, asleep)
	t.raw.pause()

	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	syscall.Kill(0, syscall.SIGTSTP) // the whole job, as the shell expects
	wait(woken, asleep)

	t.raw.again()
	t.onScreen((*screen).enter)
}

func wait[T any](ch <-chan T, atMost time.Duration) {
	select {
	case <-ch:
	case <-time.After(atMost):
	}
}
