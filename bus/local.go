package bus

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"earshot/internal/mailbox"
)

// A Local is a bus within one process. The zero value is ready for use.
type Local struct {
	// Dropped, if set, receives how many messages were dropped because a subscriber was slow. It must
	// not wait.
	Dropped func(n int)

	mu   sync.Mutex
	subs []*subscription
}

// A subscription is what one subscriber gets.
type subscription struct {
	pattern string
	queue   *mailbox.Queue[Message]

	mu    sync.Mutex
	bytes int // that wait
}

// put queues m, and reports whether there was room.
func (s *subscription) put(m Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(m.Data) > MaxPending {
		return false
	}
	s.bytes += len(m.Data)
	s.queue.Put(m)
	return true
}

// took records that m no longer waits.
func (s *subscription) took(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= len(m.Data)
}

// Publish implements [Bus].
func (l *Local) Publish(subject string, data []byte) error {
	return l.publish(Message{Subject: subject, Data: data})
}

func (l *Local) publish(m Message) error {
	if err := CheckSubject(m.Subject, false); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	if len(m.Data) > MaxData {
		return fmt.Errorf("publishing %d bytes; at most %d", len(m.Data), MaxData)
	}
	m.Data = slices.Clone(m.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	found, dropped := false, 0
	for _, s := range l.subs {
		if Matches(s.pattern, m.Subject) {
			if found = true; !s.put(m) {
				dropped++
			}
		}
	}
	if dropped > 0 && l.Dropped != nil {
		l.Dropped(dropped)
	}
	if !found && m.Respond != nil {
		return ErrNobody
	}
	return nil
}

// Subscribe implements [Bus].
func (l *Local) Subscribe(ctx context.Context, pattern string, take func(Message)) (stop func(), err error) {
	if err := CheckSubject(pattern, true); err != nil {
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	s := &subscription{pattern: pattern, queue: mailbox.New[Message](nil)}
	ctx, end := context.WithCancel(ctx)
	var taking sync.WaitGroup
	taking.Go(func() {
		for m, ok := s.queue.Take(ctx); ok && ctx.Err() == nil; m, ok = s.queue.Take(ctx) {
			s.took(m)
			take(m)
		}
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subs = append(l.subs, s)
	return func() {
		l.mu.Lock()
		l.subs = slices.DeleteFunc(l.subs, func(o *subscription) bool { return o == s })
		l.mu.Unlock()
		end()
		taking.Wait()
	}, nil
}

// Request implements [Bus].
func (l *Local) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	err := l.publish(Message{Subject: subject, Data: data, Respond: func(b []byte) error {
		select {
		case answer <- slices.Clone(b):
		default: // only the first counts
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	select {
	case b := <-answer:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Connected implements [Bus].
func (l *Local) Connected() (bool, <-chan struct{}) { return true, nil }
