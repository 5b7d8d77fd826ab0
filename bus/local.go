package bus

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"earshot/internal/mailbox"
)

// overhead is what a message takes in a queue besides its subject and data, roughly, so that empty
// messages are bounded too.
const overhead = 128

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
}

// Publish implements [Bus].
func (l *Local) Publish(subject string, data []byte) error {
	return l.publish(Message{Subject: subject, Data: data})
}

func (l *Local) publish(m Message) error {
	if err := CheckMessage(m.Subject, m.Data); err != nil {
		return err
	}
	m.Data = slices.Clone(m.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	found, dropped := false, 0
	for _, s := range l.subs {
		if Matches(s.pattern, m.Subject) {
			found = true
			dropped += s.queue.Put(m)
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
	s := &subscription{pattern, mailbox.New(Bound(func(m Message) int { return overhead + len(m.Subject) + len(m.Data) }))}
	ctx, end := context.WithCancel(ctx)
	l.mu.Lock()
	l.subs = append(l.subs, s)
	l.mu.Unlock()
	var taking sync.WaitGroup
	taking.Go(func() {
		defer l.remove(s)
		for m, ok := s.queue.Take(ctx); ok; m, ok = s.queue.Take(ctx) {
			take(m)
		}
	})
	return func() {
		end()
		taking.Wait()
	}, nil
}

func (l *Local) remove(s *subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subs = slices.DeleteFunc(l.subs, func(o *subscription) bool { return o == s })
}

// Request implements [Bus].
func (l *Local) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	err := l.publish(Message{Subject: subject, Data: data, Respond: func(b []byte) error {
		if err := CheckMessage(subject, b); err != nil {
			return err
		}
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
