package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"earshot/config"
)

// hangups are the signals that a terminal is gone. They end the program, as it does with
// its terminal, unless somebody has taken them: a daemon that has none is told so that its
// configuration is another.
type hangups struct {
	taken atomic.Bool
	told  chan os.Signal
}

// hangUps waits for the signals until ctx ends, and calls end for one that nobody takes.
func hangUps(ctx context.Context, end func()) *hangups {
	h := &hangups{told: make(chan os.Signal, 1)}
	came := make(chan os.Signal, 1)
	ignored := signal.Ignored(syscall.SIGHUP) // by nohup: it is to outlast its terminal
	signal.Notify(came, syscall.SIGHUP)
	go func() { // which lasts as long as the program, or as the test that is one
		defer signal.Stop(came)
		for {
			select {
			case s := <-came:
				if !h.taken.Load() {
					if ignored {
						continue
					}
					end()
					return
				}
				select {
				case h.told <- s:
				default: // it is going to be read, by what stands there then
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return h
}

// take returns the signals, for a daemon that has no terminal to lose.
func (a *app) take(cfg *config.Config) <-chan os.Signal {
	if a.hangups == nil || a.console(cfg) && term.IsTerminal(int(a.in.Fd())) {
		return nil
	}
	a.hangups.taken.Store(true)
	return a.hangups.told
}
