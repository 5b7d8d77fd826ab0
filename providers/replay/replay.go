// Package replay is the provider that performs a recorded scene, for the scene tests, for the
// demonstration, and to reproduce a bug. It is also the smallest provider, a template for a new
// one.
package replay

import (
	"context"
	"fmt"
	"time"

	"earshot"
	"earshot/providers"
)

// An At is an event and its time, counted from the beginning.
type At struct {
	Offset time.Duration
	Event  earshot.Event
}

// A Provider performs Events, once each time it runs.
type Provider struct {
	Events []At // in the order of their offsets

	// Speed is how many seconds of the scene pass in one second of the clock; 0 means 1.
	Speed float64

	// Via is the outlet for replies to one event alone, for events that name none.
	Via string
}

var _ providers.Provider = (*Provider)(nil)

// Name implements [providers.Provider].
func (p *Provider) Name() string { return "replay" }

// Run implements [providers.Provider]. It emits one event after another: an event that the room
// admits slowly delays those after it, and one that the room refuses ends the performance. What is
// late is emitted at once.
func (p *Provider) Run(ctx context.Context, emit providers.Emit) error {
	began := time.Now()
	for i, at := range p.Events {
		due := began.Add(p.scaled(at.Offset))
		if err := wait(ctx, time.Until(due)); err != nil {
			return err
		}
		if err := emit(ctx, p.event(at.Event, due)); err != nil {
			return fmt.Errorf("performing event %d: %w", i+1, err)
		}
	}
	return nil
}

// scaled returns how long d of the scene takes on the clock.
func (p *Provider) scaled(d time.Duration) time.Duration {
	if p.Speed <= 0 {
		return d
	}
	return time.Duration(float64(d) / p.Speed)
}

// event fills in what the recording of e leaves open.
func (p *Provider) event(e earshot.Event, due time.Time) earshot.Event {
	if e.At.IsZero() {
		e.At = due
		if u, ok := e.Body.(earshot.Utterance); ok {
			e.At = due.Add(-u.Lasted) // it is reported when it has ended
		}
	}
	if e.From == (earshot.Handle{}) {
		e.From = earshot.Handle{Provider: p.Name(), ID: "scene"}
	}
	if e.Via == "" {
		e.Via = p.Via
	}
	return e
}

// wait returns after d, or with the cause when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
