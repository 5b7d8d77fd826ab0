package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
)

// ErrClosed says that a server has gone away in the middle.
var ErrClosed = errors.New("the server closed the connection before it had answered")

// An UnreachableError says that nobody answers at an address.
type UnreachableError struct {
	Address string
	Err     error
}

// Error says what is wrong.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no speech server answers at %s: %v", e.Address, e.Err)
}

// Cure says what to do.
func (e *UnreachableError) Cure() string {
	return "start it, or correct its address in the configuration"
}

// Unwrap returns why.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Explain returns what an error of the connection to a server means: why ctx has ended, if it has; an
// [UnreachableError]; or [ErrClosed]. Any other it returns without the address that was asked, which
// may hold a secret.
func Explain(ctx context.Context, address string, err error) error {
	switch op := (*net.OpError)(nil); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &op) && op.Op == "dial":
		return &UnreachableError{address, op.Err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return ErrClosed
	}
	if asked := (*url.Error)(nil); errors.As(err, &asked) {
		return asked.Err
	}
	return err
}
