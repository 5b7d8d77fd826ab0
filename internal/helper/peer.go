package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// The daemon's patience with a helper. Silence is counted in checks, one per beat, and not in
// time: if the whole machine, or the daemon alone, stood still, there was one check and nobody is
// to blame.
var (
	beat     = Beat
	patience = 6  // checks without a sign of life; on a machine under load a few are late
	startup  = 40 // the same before hello: loading some hundred shared libraries from a cold disk takes seconds

	// grace is how long a helper may take to end by itself when its input has closed.
	grace = 500 * time.Millisecond
)

// A Life is what a helper runs in: a process, or a goroutine in a test.
type Life interface {
	// HangUp closes the helper's input, and Kill kills the helper. Neither blocks; both may be
	// called at any time, from any goroutine, repeatedly.
	HangUp()
	Kill()

	// Wait returns when the helper has ended, and how: nil means by itself and successfully. Its
	// messages can be read until then, and end soon after. It must be called once. Of ctx it uses
	// only the values.
	Wait(ctx context.Context) error
}

// A Peer is the daemon's end of a helper, whatever that runs in: it reads its messages, watches
// it, and kills it when it must.
type Peer struct {
	*Conn
	name string
	life Life
	gone chan struct{}

	greeted chan struct{} // closed when it has said hello
	lively  atomic.Bool   // since the last check
	closed  atomic.Int32  // pipes that it has closed

	mu    sync.Mutex
	fault error // what it is killed for
}

// NewPeer returns the end c of a helper with a name that has just been started.
func NewPeer(name string, c *Conn, life Life) *Peer {
	return &Peer{Conn: c, name: name, life: life, gone: make(chan struct{}), greeted: make(chan struct{})}
}

// Send implements [Link].
func (p *Peer) Send(name string, body any) error {
	late := time.AfterFunc(time.Duration(patience)*beat, func() { p.fail(ErrHung) })
	defer late.Stop()
	return p.Conn.Send(name, body)
}

// Run implements [Link].
func (p *Peer) Run(ctx context.Context, h Handler) error {
	var parts sync.WaitGroup
	parts.Go(func() { p.heard(p.controls(h.Control)) })
	parts.Go(func() { p.heard(p.sounds(h.Sound)) })
	parts.Go(func() { p.watch(ctx) })
	how := p.life.Wait(context.WithoutCancel(ctx))
	close(p.gone)
	parts.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return &DeathError{p.name, p.reason(how)}
}

// reason returns the cause of death of a helper that ended in some way.
func (p *Peer) reason(how error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.fault != nil:
		return p.fault
	case how != nil:
		return fmt.Errorf("%w: %w", ErrDied, how)
	}
	return ErrDied
}

// controls handles the messages that every helper sends, and passes on the rest.
func (p *Peer) controls(take func(Control) error) error {
	flood := rateLimiter{most: mostControl}
	return p.Controls(func(c Control) error {
		p.lively.Store(true)
		switch {
		case flood.over(time.Now(), len(c.Body)):
			return fmt.Errorf("%w: it sends control messages without end", ErrProtocol)
		case !p.hasGreeted():
			return p.greet(c)
		case c.Name == "beat":
			return nil
		case c.Name == "stuck":
			return ErrHung
		case take == nil:
			return fmt.Errorf("%w: %q was not asked for", ErrProtocol, c.Name)
		}
		return take(c)
	})
}

// greet handles the first message.
func (p *Peer) greet(c Control) error {
	var h hello
	if c.Name != "hello" || c.Decode(&h) != nil {
		return fmt.Errorf("%w: it did not say hello", ErrProtocol)
	}
	if h.Version != Version {
		return fmt.Errorf("%w: it has version %d and earshot has version %d; build both with make build", ErrProtocol, h.Version, Version)
	}
	close(p.greeted)
	return nil
}

// sounds passes on the sound.
func (p *Peer) sounds(take func(Sound) error) error {
	flood := rateLimiter{most: mostSound}
	return p.Sounds(func(s Sound) error {
		switch {
		case flood.over(time.Now(), len(s.Data)):
			return fmt.Errorf("%w: it sends sound without end", ErrProtocol)
		case take == nil:
			return fmt.Errorf("%w: sound was not asked for", ErrProtocol)
		}
		return take(s)
	})
}

// heard handles the error that ended reading a pipe. If the helper closed the pipe, that is not an
// error if the helper is about to end.
func (p *Peer) heard(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		p.closed.Add(1)
		if p.ends(grace) || p.closed.Load() == 2 { // with both closed it is dying, which takes as long as a busy machine takes; watch ends one that does not
			return
		}
		err = fmt.Errorf("%w: it closed a pipe but did not end", ErrProtocol)
	}
	p.fail(err)
}

// ends reports whether the helper ends within limit.
func (p *Peer) ends(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.gone:
		return true
	case <-t.C:
		return false
	}
}

// fail records the helper's first fault, and kills it.
func (p *Peer) fail(err error) {
	p.mu.Lock()
	if p.fault == nil {
		p.fault = err
	}
	p.mu.Unlock()
	p.life.Kill()
}

// watch ends the helper when ctx ends, and kills it when it hangs.
func (p *Peer) watch(ctx context.Context) {
	look := time.NewTicker(beat)
	defer look.Stop()
	silent := 0
	for {
		select {
		case <-p.gone:
			return
		case <-ctx.Done():
			p.life.HangUp()
			if !p.ends(grace) {
				p.life.Kill()
			}
			return
		case <-look.C:
			silent++
			if p.lively.Swap(false) {
				silent = 0
			}
			if silent > p.allowed() {
				p.fail(ErrHung)
			}
		}
	}
}

// allowed returns how many checks may pass without a sign of life.
func (p *Peer) allowed() int {
	if p.hasGreeted() {
		return patience
	}
	return startup
}

// Greeted returns a channel that is closed when the helper has said hello: from then on it receives.
func (p *Peer) Greeted() <-chan struct{} { return p.greeted }

func (p *Peer) hasGreeted() bool {
	select {
	case <-p.greeted:
		return true
	default:
		return false
	}
}
