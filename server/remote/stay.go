package remote

import (
	"context"
	"errors"
	"time"

	"earshot/server/wire"
)

// Look is how often the right to stay is checked: a revoked token lasts no longer than this.
const Look = 5 * time.Second

// parting is how long a terminal that has to go may take to read why.
const parting = 2 * time.Second

// errOut ends the session of somebody who may not stay.
var errOut = errors.New("the person at the terminal may not stay")

// guard ends the session when the person at the terminal may not stay, at the latest a little
// after telling them.
func (s *session) guard(ctx context.Context) error {
	tick := time.NewTicker(Look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			_ = s.stays(ctx)
		case <-s.out:
			return s.part(ctx)
		}
	}
}

// part waits until the terminal has read why it has to go.
func (s *session) part(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(parting):
	}
	return errOut
}

// stays reports why the person at the terminal may not stay. The first time, it tells the
// terminal, which gets nothing after that.
func (s *session) stays(ctx context.Context) error {
	select {
	case s.asking <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.asking }()
	if s.why != nil || s.Stay == nil {
		return s.why
	}
	err := s.Stay(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	s.why = err
	s.box.Last(wire.Ended{Refusal: *wire.Explain(err)})
	close(s.out)
	return err
}

// pump writes the outgoing frames until the session has ended.
func (s *session) pump(ctx context.Context) error {
	if err := s.conn.Pump(ctx, s.box); err != nil {
		return err
	}
	return errOut // nothing else closes the box
}
