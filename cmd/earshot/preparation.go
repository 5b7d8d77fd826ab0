package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"earshot/server"
)

// A preparation tells whoever waits how far a journal is that is made ready after an upgrade:
// what stands in the terminal, the service manager, and whoever asks this earshot meanwhile.
// What takes less than a second is worth no word.
type preparation struct {
	w      io.Writer
	over   bool // a line of w is written over by the next
	status func(text string) error
	answer func(ctx context.Context, why func() server.Obstacle) // whoever asks, until ctx ends
	began  time.Time

	told time.Time // zero if nothing was yet
	stop context.CancelFunc
	asks sync.WaitGroup

	mu        sync.Mutex
	done, all int64
}

// step is told at now how many of all events have been gone through. It returns at once.
func (p *preparation) step(now time.Time, done, all int64) {
	p.mu.Lock()
	p.done, p.all = done, all
	p.mu.Unlock()
	if now.Sub(p.began) < time.Second || now.Sub(p.told) < time.Second {
		return
	}
	first := p.told.IsZero()
	p.told = now
	is := p.why()
	if first {
		var ctx context.Context
		ctx, p.stop = context.WithCancel(context.Background())
		p.asks.Go(func() { p.answer(ctx, p.why) })
	}
	_ = p.status(is.Text)
	switch {
	case p.over:
		fmt.Fprintf(p.w, "\r\x1b[K%s", is.Text)
	case first:
		fmt.Fprintf(p.w, "earshot: %s; that takes a while\n", is.Text)
	}
}

// why says why there is no house yet.
func (p *preparation) why() server.Obstacle {
	p.mu.Lock()
	defer p.mu.Unlock()
	return server.Obstacle{
		Part: "journal", Kind: "house", Since: p.began, Cure: "wait until it is",
		Text: fmt.Sprintf("the journal is not ready for this version yet: %d %% of %s", 100*p.done/max(1, p.all), count(int(p.all), "event")),
	}
}

// end takes away what stands in the terminal. Nobody is answered any more when it returns.
func (p *preparation) end() {
	if p.told.IsZero() {
		return
	}
	p.stop()
	p.asks.Wait()
	if p.over {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
