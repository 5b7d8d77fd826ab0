// Package owner lets other goroutines have things done by the one that owns the state of a room.
package owner

import (
	"context"
)

// A Loop is what the owner waits for. Use [New]. It is safe for concurrent use.
type Loop struct {
	woken  chan struct{}
	calls  chan func(context.Context)
	closed chan struct{}
	err    error // of a call to a closed loop
}

// New returns a loop. closed is the error of a call after [Loop.Close].
func New(closed error) *Loop {
	return &Loop{woken: make(chan struct{}, 1), calls: make(chan func(context.Context)), closed: make(chan struct{}), err: closed}
}

// Wake makes the owner look for work. It returns at once.
func (l *Loop) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// Woken is received from by the owner, which then looks for work.
func (l *Loop) Woken() <-chan struct{} { return l.woken }

// Calls is received from by the owner, which carries out what it receives.
func (l *Loop) Calls() <-chan func(context.Context) { return l.calls }

// Closed returns a channel that is closed when the loop is.
func (l *Loop) Closed() <-chan struct{} { return l.closed }

// Close says that the owner carries out nothing more. The owner calls it once.
func (l *Loop) Close() { close(l.closed) }

// Do lets the owner do something, and waits for it. The owner itself must not call it: it would
// wait for ever.
func (l *Loop) Do(ctx context.Context, do func(context.Context)) error {
	done := make(chan struct{})
	select {
	case l.calls <- func(ctx context.Context) { defer close(done); do(ctx) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.closed:
		return l.err
	}
	<-done
	return nil
}

// Ping returns nil as soon as the owner has gone round its loop since the call. If the owner is
// stuck, Ping does not return until ctx ends, and then returns its cause. An owner that is done has
// nothing left to do, and is not stuck. The owner must not call it.
func (l *Loop) Ping(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case l.calls <- func(context.Context) { close(done) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.closed:
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
