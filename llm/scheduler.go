package llm

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// maxWaiting is how many requests may wait for an engine. A household has a few at once; with this
// many, something asks without end.
const maxWaiting = 64

// A Scheduler lets only as many requests through to its engine as it has slots, the most urgent
// first and equals in the order they came. It is an [Engine] itself, with the same contracts.
//
// If a request finds no slot and is more urgent than a running one, it parks the least urgent of
// those, the youngest first: that stream ends with [ErrParked], and what it had yielded is still
// valid. A [ReplyToPerson] is never parked. The slot of a parked stream becomes free when its
// reader has come back for the next piece, so readers of streams that may be parked must be quick.
//
// A slot is free again before the last delta, or the error, is yielded; so a reader may send the
// next request from within the loop. If too many requests wait, the least urgent of them gets a
// [Busy] error.
type Scheduler struct {
	Engine Engine

	// Called is the engine's name in [Request.Engine].
	Called string

	// Slots is how many requests the engine handles at a time; it would queue the rest itself,
	// without knowing what is urgent. Zero means one.
	Slots int

	mu      sync.Mutex
	arrived int
	running []*job
	waiting []*job // in the order in which they will start
}

// A Load is the current load of a scheduler.
type Load struct {
	Running, Waiting int
}

// A job is one request in a scheduler.
type job struct {
	priority Priority
	arrival  int
	start    chan struct{} // closed when it has a slot
	parked   bool          // told to give the slot back
	cancel   context.CancelCauseFunc
}

// Name returns the engine's name.
func (s *Scheduler) Name() string { return s.Engine.Name() }

// Probe asks the engine. It needs no slot.
func (s *Scheduler) Probe(ctx context.Context) (Status, error) { return s.Engine.Probe(ctx) }

// Sees asks the engine, if it is a [Seer]. It needs no slot.
func (s *Scheduler) Sees(ctx context.Context, model string) bool {
	seer, ok := s.Engine.(Seer)
	return ok && seer.Sees(ctx, model)
}

// Load returns what is running and what is waiting now.
func (s *Scheduler) Load() Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Load{len(s.running), len(s.waiting)}
}

// Stream implements [Service].
func (s *Scheduler) Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error] {
	return s.stream(ctx, req, func() {})
}

// stream is Stream, and calls started when the request has its slot, from the goroutine of the
// reader.
func (s *Scheduler) stream(ctx context.Context, req *Request, started func()) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		j := s.enter(req.Priority, cancel)
		defer s.leave(j) // even when the reader panics
		select {
		case <-ctx.Done():
			s.leave(j)
			yield(Delta{}, context.Cause(ctx))
			return
		case <-j.start:
		}
		started()
		last, err, more := s.run(ctx, req, yield)
		s.leave(j)
		if more {
			yield(last, err)
		}
	}
}

// run passes the engine's stream on, except its last delta or its error, which it returns when the
// engine has released the request. More is false if there is none, or if the reader has left.
func (s *Scheduler) run(ctx context.Context, req *Request, yield func(Delta, error) bool) (last Delta, err error, more bool) {
	for d, failed := range s.Engine.Stream(ctx, req) {
		switch {
		case failed != nil:
			err, more = failed, true
		case d.Done != nil:
			last, more = d, true
		case !yield(d, nil):
			return Delta{}, nil, false
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // perhaps parked; the engine's own error does not matter
	}
	if err != nil {
		last = Delta{}
	}
	return last, err, more
}

// enter adds a request. It starts at once if there is a slot.
func (s *Scheduler) enter(p Priority, cancel context.CancelCauseFunc) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	j := &job{priority: p, arrival: s.arrived, start: make(chan struct{}), cancel: cancel}
	at, _ := slices.BinarySearchFunc(s.waiting, j, urgency)
	s.waiting = slices.Insert(s.waiting, at, j)
	s.settle()
	if n := len(s.waiting); n > maxWaiting {
		s.waiting[n-1].cancel(s.busy())
		s.waiting = slices.Delete(s.waiting, n-1, n)
	}
	return j
}

// leave removes a request, running or waiting. It may be called again.
func (s *Scheduler) leave(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(other *job) bool { return other == j }
	s.running = slices.DeleteFunc(s.running, is)
	s.waiting = slices.DeleteFunc(s.waiting, is)
	s.settle()
}

// settle assigns the free slots, and parks requests to make room for more urgent ones.
func (s *Scheduler) settle() {
	for len(s.waiting) > 0 && len(s.running) < max(s.Slots, 1) {
		j := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.running = append(s.running, j)
		close(j.start)
	}
	slices.SortFunc(s.running, expendability)
	for i, w := range s.waiting {
		if i == len(s.running) {
			return
		}
		r := s.running[i]
		if r.parked {
			continue // its slot is promised to another already
		}
		if r.priority >= w.priority || r.priority >= ReplyToPerson {
			return
		}
		r.parked = true
		r.cancel(ErrParked)
	}
}

// busy is the error of a request that exceeds the limit.
func (s *Scheduler) busy() *Error {
	return &Error{
		Fault: Busy, Engine: s.Name(),
		Cure: "wait a moment, then ask again",
		Err:  fmt.Errorf("%d requests are waiting already", maxWaiting),
	}
}

// urgency orders waiting requests: the higher priority first, then the older.
func urgency(a, b *job) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.arrival, b.arrival))
}

// expendability orders running requests: first those that are ending anyway, then the lower
// priority, then the younger.
func expendability(a, b *job) int {
	if a.parked != b.parked {
		if a.parked {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.arrival, a.arrival))
}
