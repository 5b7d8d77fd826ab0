// Package progress tells people who wait how far something is: a model that is downloaded, and a
// journal that is made ready for a new version.
package progress

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"earshot/api"
	"earshot/internal/english"
)

// A Journal tells whoever waits how far a journal is that is made ready after an upgrade:
// what stands in the terminal, the service manager, and whoever asks this earshot meanwhile.
// What takes less than a second is worth no word.
type Journal struct {
	W          io.Writer
	Overwrites bool // a line of w is written over by the next
	Status     func(text string) error
	Answer     func(ctx context.Context, why func() api.Obstacle) // whoever asks, until ctx ends
	Began      time.Time

	stop context.CancelFunc
	asks sync.WaitGroup

	mu        sync.Mutex
	done, all int64
	told      time.Time // zero if nothing was yet
	ended     bool      // nobody waits any more
}

// Step is told at now how many of all events have been gone through. It returns at once. A
// journal that is mended later, while earshot runs, is nothing that anybody waits for.
func (p *Journal) Step(ctx context.Context, now time.Time, done, all int64) {
	first, due := p.note(ctx, now, done, all)
	if !due {
		return
	}
	is := p.why()
	_ = p.Status(is.Text)
	switch {
	case p.Overwrites:
		fmt.Fprintf(p.W, "\r\x1b[K%s", is.Text)
	case first:
		fmt.Fprintf(p.W, "earshot: %s; this takes a while\n", is.Text)
	}
}

// note keeps how far it is, and reports whether that is to be told, and for the first time:
// then whoever asks is answered from now on.
func (p *Journal) note(ctx context.Context, now time.Time, done, all int64) (first, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all = done, all
	if p.ended || now.Sub(p.Began) < time.Second || now.Sub(p.told) < time.Second {
		return false, false
	}
	first, p.told = p.told.IsZero(), now
	if first {
		ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx)) // until End
		p.asks.Go(func() { p.Answer(ctx, p.why) })
	}
	return first, true
}

// why says why there is no daemon yet.
func (p *Journal) why() api.Obstacle {
	p.mu.Lock()
	defer p.mu.Unlock()
	return api.Obstacle{
		Part: "journal", Kind: "house", Since: p.Began, Cure: "wait until it is ready",
		Text: fmt.Sprintf("the journal is being prepared for this version: %d %% of %s", 100*p.done/max(1, p.all), english.Count(int(p.all), "event")),
	}
}

// End takes away what stands in the terminal. Nobody is answered any more when it returns.
func (p *Journal) End() {
	p.mu.Lock()
	p.ended = true
	told := !p.told.IsZero()
	p.mu.Unlock()
	if !told {
		return
	}
	p.stop()
	p.asks.Wait()
	if p.Overwrites {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}
