package wire

import (
	"fmt"
	"sync"
	"sync/atomic"

	"earshot/internal/helper"
)

// Requests are what the daemon asks of a helper in its roles: to open with a config, once, and to cancel
// streams.
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

// Serve does the work of a role until the input closes: it has the config opened, says that it is
// ready, and hands on sound. Control is given the daemon's messages from the beginning, and calls
// [Requests.Control].
func (r *Requests[Config]) Serve(s *helper.Server, control func(helper.Control) error, open func() (ready any, err error), sound func(helper.Sound) error) error {
	var controls sync.WaitGroup
	defer controls.Wait()
	ended := make(chan error, 1)
	controls.Go(func() { ended <- s.Controls(control) })
	select {
	case <-r.Opened:
	case err := <-ended:
		return err
	}
	ready, err := open()
	if err != nil {
		s.Send(FaultName, helper.NewFault(err))
		return <-ended // the fault is in a pipe, which must stay open until it was read
	}
	if err := s.Send(ReadyName, ready); err != nil {
		return err
	}
	return s.Sounds(sound)
}
