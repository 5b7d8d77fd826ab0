//go:build cgo

package main

import (
	"fmt"
	"sync/atomic"

	"earshot/internal/helper"
	"earshot/models/wire"
)

// Requests are what the daemon asks of the roles hear and say, see package wire: to open with a
// config, once, and to cancel streams.
type requests[Config any] struct {
	config    Config
	opened    chan struct{} // closed when there is a config
	cancelled atomic.Uint32 // this stream and those before it
}

func newRequests[Config any]() *requests[Config] {
	return &requests[Config]{opened: make(chan struct{})}
}

// control handles the daemon's messages.
func (r *requests[Config]) control(c helper.Control) error {
	switch c.Name {
	case wire.OpenName:
		select {
		case <-r.opened:
			return fmt.Errorf("%w: opened twice", helper.ErrProtocol)
		default:
		}
		if err := c.Decode(&r.config); err != nil {
			return err
		}
		close(r.opened)
		return nil
	case wire.CancelName:
		var m wire.Cancel
		if err := c.Decode(&m); err != nil {
			return err
		}
		r.cancelled.Store(max(m.Stream, r.cancelled.Load()))
		return nil
	}
	return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
}
