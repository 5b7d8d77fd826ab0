// Package see is the daemon's side of earshot-camera: what that process sees with one camera, and
// its pictures. Detection itself happens in that process, which may die at any time.
//
// What happens when a reader is slow: observations are reported from the goroutine that reads the
// helper's messages, so their receiver must return at once. A requested picture is assembled here,
// under limits, for at most [wire.MaxRequests] requests at a time; more are refused. Nobody waits
// longer than [Patience].
package see

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/see/wire"
)

const (
	// Patience is how long a Look waits: for the next picture, at the lowest rate that
	// can be configured, and for its bytes.
	Patience = 15 * time.Second

	// opening is how long a helper may take to open its camera: a stream that is silent
	// blocks it for as long as its own time limits, and libraries from a cold disk take
	// some seconds more.
	opening = 40 * time.Second
)

// Errors of a Look.
var (
	ErrAway = errors.New("there are no pictures from the camera")
	ErrBusy = errors.New("too many requests for a picture are waiting")
	ErrNone = errors.New("the picture of that time is no longer kept")
	ErrSlow = errors.New("the camera did not send its picture in time")
)

// A Config says which camera, and how it looks.
type Config struct {
	Name string        // of the camera in the configuration; pictures carry it
	Dial helper.Dialer // starts the helper
	Open wire.Open     // what the helper is told first

	// On receives each examined picture, from one goroutine, and must return at once. It may be
	// nil.
	On func(Observation)

	Log *slog.Logger // which says of which camera it is; may be nil
}

// An Observation is what the helper found in the picture of a time.
type Observation struct {
	At time.Time // when the picture was taken, by this process's clock; never before the one before
	wire.Observation
}

// A Camera is one camera. It may be used from many goroutines, before it runs and
// between its runs.
type Camera struct {
	config Config

	mu     sync.Mutex
	life   *helperSession // of the helper, from when pictures come; nil if there is none
	number uint32         // of the last request; never used again, by any life
}

// New returns a camera that sees once it runs.
func New(cfg Config) *Camera {
	if cfg.On == nil {
		cfg.On = func(Observation) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Camera{config: cfg}
}

// Run starts a helper and lives as long as it does. It returns nil when ctx ends or a recording
// is over. Otherwise it returns why the helper ended: a [*helper.DeathError], which wraps a
// [*helper.FaultError] if the helper knows the cause. It may be called again after it has returned,
// never twice at a time.
func (c *Camera) Run(ctx context.Context) error {
	link, err := c.config.Dial()
	if err != nil {
		return fmt.Errorf("starting the helper of the camera: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &helperSession{
		c: c, link: link, stop: stop,
		looks: make(chan wire.Look, wire.MaxRequests), asked: make(map[uint32]*pictureRequest),
	}
	late := time.AfterFunc(opening, func() { stop(errSilent) })
	defer late.Stop()
	var sending sync.WaitGroup
	sending.Go(func() { l.send(ctx) })
	err = link.Run(ctx, helper.Handler{
		Control: func(m helper.Control) error { return l.control(m, late) },
		Sound:   l.bytes,
	})
	stop(nil)
	sending.Wait()
	c.closed(l)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOver):
		return nil
	case errors.Is(cause, errSilent):
		return cause
	}
	return err
}

var (
	// errSilent is the reason for killing a helper that lives and does not answer.
	errSilent = errors.New("the camera did not answer, and its helper was killed")

	// errOver ends the helper when a recording has ended.
	errOver = errors.New("the recording is over")
)

// opened records that pictures come from now on.
func (c *Camera) opened(l *helperSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life = l
}

// closed records that no more come, and tells those who wait for one.
func (c *Camera) closed(l *helperSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life == l {
		c.life = nil
	}
	for _, a := range l.asked {
		a.late.Stop()
		a.finish(earshot.Picture{}, ErrAway)
	}
	clear(l.asked)
}

// Look returns the picture taken nearest to at, if the camera still has it, or for the zero time
// the next one, with boxes drawn around what was seen if boxes is true. It waits until there is
// one, ctx ends or [Patience] is over. While the camera is away it returns ErrAway at once.
func (c *Camera) Look(ctx context.Context, at time.Time, boxes bool) (earshot.Picture, error) {
	l, a, err := c.ask()
	if err != nil {
		return earshot.Picture{}, err
	}
	ask := wire.Look{Request: a.request, Boxes: boxes}
	if !at.IsZero() {
		ask.Age = cmp.Or(max(0, time.Since(at)), 1) // 0 would be the next
	}
	l.looks <- ask // each request has a place there until it is sent, and is not answered before
	select {
	case <-a.done:
		return a.picture, a.err
	case <-ctx.Done():
		return c.giveUp(a, context.Cause(ctx))
	}
}

// ask makes room for a picture.
func (c *Camera) ask() (*helperSession, *pictureRequest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.life
	switch {
	case l == nil:
		return nil, nil, ErrAway
	case len(l.asked) >= wire.MaxRequests:
		return nil, nil, ErrBusy
	}
	c.number++
	a := &pictureRequest{request: c.number, done: make(chan struct{})}
	a.late = time.AfterFunc(Patience, func() {
		l.stop(errSilent)
		c.giveUp(a, ErrSlow)
	})
	l.asked[a.request] = a
	return l, a, nil
}

// giveUp drops a request, unless its picture has just come. A later answer is thrown away; until
// then its place stays taken, since the helper is working on it.
func (c *Camera) giveUp(a *pictureRequest, why error) (earshot.Picture, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.finish(earshot.Picture{}, why)
	return a.picture, a.err
}
