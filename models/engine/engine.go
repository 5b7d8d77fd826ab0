// Package engine chooses among the engines that can do one thing, such as recognising speech, while
// a conversation goes on: one that keeps failing gives way to the next, until it is well again.
//
// A [Chooser] is a dialer for packages stt and tts, which hear an utterance again, and go on with a
// text, when their helper has ended; so a change loses nothing.
//
// What happens when a reader is slow: nothing is kept here.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/wait"
	"earshot/models/wire"
)

const (
	// deaths within a period of this length make an engine give way. One that died is started again
	// within seconds, so that two are an accident and three are a habit.
	deaths = 3
	within = 10 * time.Minute

	// rest is how long an engine that gave way is left alone. Then it is asked every minute whether it
	// is well.
	rest  = 10 * time.Minute
	again = time.Minute

	// pause is how often it is looked whether nobody speaks, once a better engine is well.
	pause = 100 * time.Millisecond
)

// An Engine is one way to do it.
type Engine struct {
	Name string // for people, such as "the Wyoming server at 127.0.0.1:10300"
	Why  string // it is chosen, for people; may be empty
	Dial helper.Dialer

	// Elsewhere says that it is on another machine, to which everything that is said goes.
	Elsewhere bool

	// Check reports why it cannot be used now. Nil means that it always can.
	Check func(context.Context) error
}

// A Chooser has one engine at a time. It may be used from many goroutines.
type Chooser struct {
	does    string
	engines []Engine
	report  func(earshot.Notice)

	mu     sync.Mutex
	health []health // of each engine
}

// New returns a chooser among engines, at least one, the best first. For people, does says what they
// do, such as "hears"; report receives what people are told.
func New(does string, engines []Engine, report func(earshot.Notice)) *Chooser {
	return &Chooser{does: does, engines: engines, report: report, health: make([]health, len(engines))}
}

// Dial implements [helper.Dialer].
func (c *Chooser) Dial() (helper.Link, error) {
	c.mu.Lock()
	i := choose(c.health, time.Now())
	c.mu.Unlock()
	l, err := c.engines[i].Dial()
	if err != nil {
		c.died(i, err)
		return nil, err
	}
	return &watchedLink{Link: l, of: c, engine: i, busy: make(map[uint32]bool)}, nil
}

// died notes that an engine has ended by a fault, and reports whether it gives way, because that was
// one too many.
func (c *Chooser) died(i int, err error) (gaveWay bool) {
	fault := helper.NewFault(err)
	c.mu.Lock()
	last := i == len(c.health)-1
	gaveWay = !last && c.health[i].died(time.Now(), fault.Lasting)
	next := c.engines[choose(c.health, time.Now())].Name
	c.mu.Unlock()
	if !gaveWay {
		return false
	}
	fails := "failed repeatedly"
	if fault.Lasting {
		fails = "does not work"
	}
	c.report(earshot.Notice{Key: "engine: " + c.does, Cure: fault.Cure, Text: fmt.Sprintf(
		"%s %s (%v); %s %s until it is well", c.engines[i].Name, fails, err, next, c.does)})
	return true
}

// A health is how an engine has been lately. It is a value without a clock.
type health struct {
	recent []time.Time // within the last period, at most deaths
	until  time.Time   // when it may be asked again; in the past if it need not rest
}

// died notes a death, and reports whether the engine gives way; at once if it is lasting.
func (h *health) died(now time.Time, lasting bool) bool {
	h.recent = append(slices.DeleteFunc(h.recent, func(at time.Time) bool { return now.Sub(at) >= within }), now)
	if len(h.recent) < deaths && !lasting {
		return false
	}
	*h = health{until: now.Add(rest)}
	return true
}

// choose returns the first engine that need not rest, or else the last.
func choose(all []health, now time.Time) int {
	if i := slices.IndexFunc(all, func(h health) bool { return !now.Before(h.until) }); i >= 0 {
		return i
	}
	return len(all) - 1
}

// awaitBetter waits until an engine before i is well, and reports whether one is, rather than that
// ctx has ended.
func (c *Chooser) awaitBetter(ctx context.Context, i int) bool {
	for {
		c.mu.Lock()
		better, at := -1, time.Time{}
		for j, h := range c.health[:i] {
			if better < 0 || h.until.Before(at) {
				better, at = j, h.until
			}
		}
		c.mu.Unlock()
		if better < 0 || !wait.For(ctx, time.Until(at)) {
			return false
		}
		err := error(nil)
		if check := c.engines[better].Check; check != nil {
			err = check(ctx)
		}
		c.mu.Lock()
		if err == nil {
			c.health[better] = health{}
		} else {
			c.health[better].until = time.Now().Add(again)
		}
		c.mu.Unlock()
		if err == nil {
			return true
		}
	}
}

// A watchedLink is an engine at work.
type watchedLink struct {
	helper.Link
	of     *Chooser
	engine int

	mu   sync.Mutex
	busy map[uint32]bool // with which utterances or texts
}

// Run implements [helper.Link].
func (l *watchedLink) Run(ctx context.Context, h helper.Handler) error {
	change := errors.New("a better engine is well")
	running, stop := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		if !l.of.awaitBetter(running, l.engine) {
			return
		}
		for l.isBusy() {
			if !wait.For(running, pause) {
				return
			}
		}
		stop(change)
	})
	err := l.Link.Run(running, l.watch(h))
	better := context.Cause(running) == change && ctx.Err() == nil
	stop(nil)
	watching.Wait()
	switch cause := context.Cause(ctx); {
	case better:
		l.of.back()
		return helper.ErrReplaced
	case err != nil && l.of.died(l.engine, err):
		return helper.ErrReplaced
	case err == nil && cause != nil && !errors.Is(cause, context.Canceled): // its client has ended it, because it did not answer
		l.of.died(l.engine, cause)
	}
	return err
}

// back notes that a better engine is well.
func (c *Chooser) back() {
	c.mu.Lock()
	next := c.engines[choose(c.health, time.Now())].Name
	c.mu.Unlock()
	c.report(earshot.Notice{Key: "engine: " + c.does, Text: fmt.Sprintf("%s is well, and %s again", next, c.does), Over: true})
}

// Send implements [helper.Link].
func (l *watchedLink) Send(name string, body any) error {
	if c, is := body.(wire.Cancel); is {
		l.over(c.Stream)
	}
	return l.Link.Send(name, body)
}

// SendSound implements [helper.Link].
func (l *watchedLink) SendSound(stream uint32, data []byte) error {
	if stream&wire.Spot == 0 && len(data) > 0 {
		l.mu.Lock()
		l.busy[stream] = true
		l.mu.Unlock()
	}
	return l.Link.SendSound(stream, data)
}

// watch returns a handler that also sees when an utterance or a text is over.
func (l *watchedLink) watch(h helper.Handler) helper.Handler {
	return helper.Handler{
		Control: func(c helper.Control) error {
			var of struct{ Stream uint32 }
			if c.Name == wire.FinalName && c.Decode(&of) == nil {
				l.over(of.Stream)
			}
			return h.Control(c)
		},
		Sound: func(s helper.Sound) error {
			if len(s.Data) == 0 {
				l.over(s.Stream)
			}
			return h.Sound(s)
		},
	}
}

// over notes that a stream is.
func (l *watchedLink) over(stream uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, stream)
}

func (l *watchedLink) isBusy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.busy) > 0
}
