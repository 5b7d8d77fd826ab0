package helper

import (
	"context"
	"errors"
	"fmt"
)

// A Handler is what a client does with its helper's messages. Each function is called in order,
// from a goroutine of its own; control must be handled at once. An error is a fault of the helper,
// which is killed for it. The contents of a Sound are valid until the function returns. Run waits
// for the functions, so they may wait only for something that ends with the context of Run. If a
// helper must not send a kind of message, its function is nil.
type Handler struct {
	Control func(Control) error
	Sound   func(Sound) error
}

// A Link is a helper as its client sees it: a [Process], or a fake in a test.
type Link interface {
	// Send sends control, SendSound sound; see [Conn]. A helper that does not read control for some
	// seconds is killed as hung. Both return when the helper ends.
	Send(name string, body any) error
	SendSound(stream uint32, data []byte) error

	// Run passes the helper's messages to h until the helper ends, which is a *[DeathError], or ctx
	// ends, which is not an error: the helper is then ended too. It must be called once. When it
	// returns, nothing of the helper is left.
	Run(ctx context.Context, h Handler) error
}

// A Dialer starts a helper.
type Dialer func() (Link, error)

// A DeathError says why a helper ended.
type DeathError struct {
	Name string
	Err  error // how
}

// Error says how the helper ended.
func (e *DeathError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

// Unwrap returns how it ended.
func (e *DeathError) Unwrap() error { return e.Err }

// ErrReplaced is how [Link.Run] ends if another helper is to be dialled at once, which does better.
var ErrReplaced = errors.New("another takes its place")

// How a helper ends, beside [ErrProtocol] and the errors of its client.
var (
	ErrHung = errors.New("it hung, and was killed")
	ErrDied = errors.New("it ended by itself")
)
