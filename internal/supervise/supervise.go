// Package supervise keeps running what fails: a sense, an outlet, a helper
// process. Nothing that is supervised retries or reports its own death; here
// both are done, the same way for all of them.
//
// A fault is said once, however often the restarts fail, and once more when it
// is over. It is over when the supervised has run for [Config.Well] on end: one
// that comes up and dies again within that was never back.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"earshot"
	"earshot/internal/wait"
)

// The values that a zero Config stands for.
const (
	first = 500 * time.Millisecond // a microphone that is plugged in again is back within this
	most  = 30 * time.Second       // short enough that nobody restarts the daemon by hand
	well  = 5 * time.Second        // longer than a source takes to find out that its server is gone
)

// A Config says how patient a supervisor is. The zero value is usable.
type Config struct {
	// Report is told of the loss and of the return, from one goroutine at a
	// time. If nil, nobody is told. It should not block: nothing is restarted
	// meanwhile.
	Report func(earshot.Notice)

	// Began, if set, is told that a run begins.
	Began func()

	First time.Duration // the longest wait after the first failure; 0 means 500ms
	Most  time.Duration // the longest wait of all; 0 means 30s
	Well  time.Duration // having run that long is being well; 0 means 5s

	// Deaf, if set, is how long the supervised may run without a beat of
	// Pulse. One that stays silent for longer is open and yet delivers
	// nothing; it is stopped, reported and started again.
	Deaf time.Duration

	// Pulse, if set, is where the supervised shows that it is there: before that a
	// run is not well, however long it waits for what it is to work with.
	Pulse *Pulse

	// Lost says that the supervised is known not to work at first, and that
	// people have been told: only its return is news.
	Lost bool

	// Jitter returns where in the second half of a wait it ends, from 0 to 1,
	// so that ten sources which broke together do not come back together. If
	// nil, it is random.
	Jitter func() float64
}

// Run calls run again and again, waiting longer after each failure, until run
// returns nil, which is its own end, or an [errors.ErrUnsupported], which no
// restart mends and which Run returns, or until ctx ends. Whatever happens, run
// has returned when Run does. Being told to stop is not an error.
//
// A cure that an error of run carries, by a method Cure() string anywhere in
// its chain, becomes the notice's.
func Run(ctx context.Context, name string, run func(context.Context) error, cfg Config) error {
	c := newSupervisedTask(name, cfg)
	for ctx.Err() == nil {
		err := attend(ctx, c, run)
		if ctx.Err() != nil {
			break
		}
		next := c.ended(time.Now(), err)
		c.report(next.say)
		if next.over {
			return next.err
		}
		wait.For(ctx, next.wait)
	}
	return nil
}

// attend runs the supervised once and looks after it.
func attend(ctx context.Context, c *supervisedTask, run func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	now := time.Now()
	c.began(now)
	if c.cfg.Began != nil {
		c.cfg.Began()
	}
	c.cfg.Pulse.reset(now)

	done := make(chan error, 1)
	go func() { done <- run(ctx) }() // waited for below, on every path
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			if deaf, ok := errors.AsType[*deafError](context.Cause(ctx)); ok {
				return deaf
			}
			return err
		case <-look.C:
			next := c.look(time.Now(), c.cfg.Pulse.last())
			c.report(next.say)
			if next.err != nil {
				stop(next.err)
			}
			if next.wait > 0 {
				look.Reset(next.wait)
			}
		}
	}
}

// A Pulse is where the supervised shows that data flows. The zero value is
// ready; all methods may be called from any goroutine.
type Pulse struct {
	mu   sync.Mutex
	beat time.Time
}

// Beat says that something came just now.
func (p *Pulse) Beat() { p.reset(time.Now()) }

func (p *Pulse) reset(now time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = now
}

func (p *Pulse) last() time.Time {
	if p == nil {
		return time.Time{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.beat
}

// A deafError is the reason why something silent was stopped.
type deafError struct{ after time.Duration }

func (e *deafError) Error() string { return fmt.Sprintf("it sent nothing for %v", e.after) }

// withDefaults returns cfg with its zeros filled in.
func (cfg Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&cfg.First, first)
	set(&cfg.Most, most)
	set(&cfg.Well, well)
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	if cfg.Pulse == nil && cfg.Deaf > 0 {
		panic("supervise: Config.Deaf is set without a Pulse")
	}
	return cfg
}
