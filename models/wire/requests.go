package wire

import (
	"fmt"
	"sync/atomic"

	"earshot/internal/helper"
)

// Requests are what the daemon asks of a helper in the roles hear and say: to open with a config,
// once, and to cancel streams.
type Requests[Config any] struct {
	Config    Config        // once Opened is closed
	Opened    chan struct{} // closed when there is a config
	Cancelled atomic.Uint32 // this stream and those before it, where streams come one after another
}

// NewRequests returns requests that are still to come.
func NewRequests[Config any]() *Requests[Config] {
	return &Requests[Config]{Opened: make(chan struct{})}
}

// Control handles the daemon's messages.
func (r *Requests[Config]) Control(c helper.Control) error {
	switch c.Name {
	case OpenName:
		select {
		case <-r.Opened:
			return fmt.Errorf("%w: opened twice", helper.ErrProtocol)
		default:
		}
		if err := c.Decode(&r.Config); err != nil {
			return err
		}
		close(r.Opened)
		return nil
	case CancelName:
		var m Cancel
		if err := c.Decode(&m); err != nil {
			return err
		}
		r.Cancelled.Store(max(m.Stream, r.Cancelled.Load()))
		return nil
	}
	return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
}
