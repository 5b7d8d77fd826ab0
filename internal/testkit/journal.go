package testkit

import (
	"context"
	"sync"
	"time"

	"earshot"
)

// A Journal keeps events in memory, with the promises of the real one: an ID
// that is known comes back with its old sequence, and what fails is not kept.
type Journal struct {
	mu     sync.Mutex
	takes  time.Duration
	fault  error
	refuse func(earshot.Event) error
	from   int64
	events []earshot.Event
}

// Append keeps events, all or none.
func (j *Journal) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	j.mu.Lock()
	takes := j.takes
	j.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fault != nil {
		return nil, j.fault
	}
	for _, e := range events {
		if j.refuse == nil {
			break
		}
		if err := j.refuse(e); err != nil {
			return nil, err
		}
	}
	var kept []earshot.Event
	for _, e := range events {
		kept = append(kept, j.keep(e))
	}
	return kept, nil
}

func (j *Journal) keep(e earshot.Event) earshot.Event {
	for _, had := range j.events {
		if had.ID == e.ID {
			return had
		}
	}
	e.Sequence = j.from + int64(len(j.events)) + 1
	j.events = append(j.events, e)
	return e
}

// Slow makes every later commit take d.
func (j *Journal) Slow(d time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.takes = d
}

// Fail makes every Append fail with err, until it is called with nil.
func (j *Journal) Fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fault = err
}

// RefuseIf makes every Append fail that has an event for which why returns an
// error.
func (j *Journal) RefuseIf(why func(earshot.Event) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refuse = why
}

// From makes the first event the one behind a sequence, as if there had been
// others.
func (j *Journal) From(sequence int64) { j.from = sequence }

// Events returns all that was kept, in order.
func (j *Journal) Events() []earshot.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]earshot.Event(nil), j.events...)
}
