// Package helpertest makes helpers for tests that need no process: the same
// protocol, over pipes in memory.
package helpertest

import (
	"context"
	"errors"
	"io"
	"sync"

	"earshot/internal/helper"
)

// A Link is a helper in this process. It implements [helper.Link].
type Link struct {
	*helper.Conn
	name string
	work func(context.Context, *helper.Server) error
	far  *helper.Conn
	ends []io.Closer
}

// New returns a helper that does work once it runs. The helper dies with what
// work returns.
func New(name string, work func(context.Context, *helper.Server) error) *Link {
	controlR, controlW := io.Pipe()
	replyR, replyW := io.Pipe()
	soundR, soundW := io.Pipe()
	backR, backW := io.Pipe()
	return &Link{
		Conn: helper.NewConn(replyR, controlW, backR, soundW),
		name: name, work: work,
		far:  helper.NewConn(controlR, replyW, soundR, backW),
		ends: []io.Closer{controlR, controlW, replyR, replyW, soundR, soundW, backR, backW},
	}
}

// Dialer returns a dialer that starts such a helper each time.
func Dialer(name string, work func(context.Context, *helper.Server) error) helper.Dialer {
	return func() (helper.Link, error) { return New(name, work), nil }
}

// Run implements [helper.Link].
func (l *Link) Run(ctx context.Context, h helper.Handler) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	errs := make(chan error, 3)
	parts.Go(func() {
		err := helper.Serve(inner, l.name, l.far, l.work)
		if err == nil {
			err = helper.ErrDied
		}
		errs <- err
	})
	parts.Go(func() {
		errs <- l.Controls(func(c helper.Control) error {
			if c.Name == "hello" || c.Name == "beat" {
				return nil
			}
			return h.Control(c)
		})
	})
	parts.Go(func() { errs <- l.Sounds(h.Sound) })
	var err error
	select {
	case err = <-errs:
	case <-ctx.Done():
	}
	stop()
	for _, e := range l.ends {
		e.Close()
	}
	parts.Wait()
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = helper.ErrDied
	}
	return &helper.DeathError{Name: l.name, Err: err}
}
