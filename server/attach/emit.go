package attach

import (
	"context"
	"errors"

	"earshot"
	"earshot/server/wire"
)

// emit is the [earshot/providers.Emit] of an attached terminal.
func (s *session) emit(ctx context.Context, e earshot.Event) error {
	select {
	case s.window <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.lost:
		return ErrLost
	}
	answer := make(chan error, 1)
	if err := s.send(e, answer); err != nil {
		<-s.window
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.lost:
		return ErrLost
	}
}

// send sends e. The answer will be sent to answer, which has room for it.
func (s *session) send(e earshot.Event, answer chan<- error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.box.Put(wire.Event{Event: e}); err != nil {
		return err
	}
	s.waiting = append(s.waiting, answer)
	return nil
}

// answered passes on the answer to the nth event.
func (s *session) answered(n int64, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	if n != s.number || len(s.waiting) == 0 {
		return errors.New("the daemon answered a request that was not made")
	}
	s.waiting[0] <- err
	s.waiting = s.waiting[1:]
	<-s.window
	return nil
}
