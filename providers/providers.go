// Package providers defines what a provider, an input of the daemon, is. Each provider is a
// package below it; [earshot/providers/replay] is the smallest.
package providers

import (
	"context"

	"earshot"
)

// Emit hands an event to the room. It blocks until the room has admitted the event, which for a
// stored event means that it is on disk, or until ctx ends. It may be called from any goroutine.
type Emit func(ctx context.Context, e earshot.Event) error

// A Provider turns one source, such as a console or a chat room, into events.
type Provider interface {
	// Name is the provider's key in the configuration file and in the log.
	Name() string

	// Run emits events until ctx ends or the source fails. It returns only after every goroutine it
	// started has returned. A nil error means that the source ended by itself, as a recording does.
	// It neither retries nor logs its own failure: a supervisor does both.
	//
	// Emit must not be called after Run has returned. Sound never goes
	// through it.
	Run(ctx context.Context, emit Emit) error
}
