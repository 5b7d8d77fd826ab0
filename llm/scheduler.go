package llm

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
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

	// Hosts, if any, are servers of one model in place of Engine and Slots. They have one queue.
	Hosts []*Host

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
	placement
}

// parkable reports whether r may be parked for j.
func (r *job) parkable(j *job) bool { return r.priority < j.priority && r.priority < ReplyToPerson }

// engine returns the engine of h, or if that is nil, the only one, or that of the first host.
func (s *Scheduler) engine(h *Host) Engine {
	switch {
	case h != nil:
		return h.Engine
	case len(s.Hosts) > 0:
		return s.Hosts[0].Engine
	}
	return s.Engine
}

// Name returns the engine's name.
func (s *Scheduler) Name() string { return s.engine(nil).Name() }

// Probe asks the engine. It needs no slot.
func (s *Scheduler) Probe(ctx context.Context) (Status, error) { return s.engine(nil).Probe(ctx) }

// Sees asks the engine, if it is a [Seer], or at once all its hosts that are well: of the others, some may be gone
// and answer nothing. It needs no slot. What it asks in vain ends with ctx.
func (s *Scheduler) Sees(ctx context.Context, model string) bool {
	s.mu.Lock()
	hosts := slices.DeleteFunc(slices.Clone(s.Hosts), func(h *Host) bool { return h.failures > 0 })
	s.mu.Unlock()
	switch {
	case len(s.Hosts) == 0:
		hosts = []*Host{{Engine: s.Engine}}
	case len(hosts) == 0:
		hosts = s.Hosts
	}
	answers := make(chan bool, len(hosts))
	for _, h := range hosts {
		go func() {
			seer, ok := h.Engine.(Seer)
			answers <- ok && seer.Sees(ctx, model)
		}()
	}
	for range hosts {
		if <-answers {
			return true
		}
	}
	return false
}

// Load returns what is running and what is waiting now.
func (s *Scheduler) Load() Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Load{len(s.running), len(s.waiting)}
}

// Stream implements [Service].
func (s *Scheduler) Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error] {
	return s.stream(ctx, req, nil, func(*Host) {})
}

// stream is Stream on a host that was not tried, and calls started when the request has its slot,
// from the goroutine of the reader. The host is nil if there is only one.
func (s *Scheduler) stream(ctx context.Context, req *Request, tried []*Host, started func(*Host)) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		j := &job{priority: req.Priority, cancel: cancel, placement: placement{tried: tried}}
		if len(s.Hosts) > 0 {
			j.prompt = prefixes(req)
		}
		s.enter(j)
		defer s.leave(j, errLeft) // even when the reader panics
		select {
		case <-ctx.Done():
			s.leave(j, errLeft)
			yield(Delta{}, context.Cause(ctx))
			return
		case <-j.start:
		}
		started(j.host)
		last, err, more := s.run(ctx, j, req, yield)
		if more {
			s.leave(j, err)
			yield(last, err)
		}
	}
}

// run passes the engine's stream on, except its last delta or its error, which it returns when the
// engine has released the request. More is false if there is none, or if the reader has left.
func (s *Scheduler) run(ctx context.Context, j *job, req *Request, yield func(Delta, error) bool) (last Delta, err error, more bool) {
	for d, failed := range s.engine(j.host).Stream(ctx, req) {
		if j.host != nil && j.first.IsZero() && d != (Delta{}) {
			j.first = time.Now()
		}
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

// enter adds a request. It starts at once if there is a slot, and before its equals if it failed on
// another host.
func (s *Scheduler) enter(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	j.start, j.entered = make(chan struct{}), time.Now()
	if len(j.tried) == 0 {
		j.arrival = s.arrived
	}
	at, _ := slices.BinarySearchFunc(s.waiting, j, urgency)
	s.waiting = slices.Insert(s.waiting, at, j)
	s.settle()
	if n := len(s.waiting); n > maxWaiting {
		s.waiting[n-1].cancel(s.busy())
		s.waiting = slices.Delete(s.waiting, n-1, n)
	}
}

// leave removes a request, running or waiting, that ended with err. It may be called again.
func (s *Scheduler) leave(j *job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); j.host != nil && j.host.finish(j, err, now) {
		s.settleAt(j.host.rests, now)
	}
	is := func(other *job) bool { return other == j }
	s.running = slices.DeleteFunc(s.running, is)
	s.waiting = slices.DeleteFunc(s.waiting, is)
	s.settle()
}

// settle assigns the free slots, and parks requests to make room for more urgent ones.
func (s *Scheduler) settle() {
	now := time.Now()
	for _, h := range s.Hosts {
		h.chosen = 0
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(j *job) bool { return s.begin(j, now) })
	slices.SortFunc(s.running, expendability)
	var promised []*job // their slots
	for _, w := range s.waiting {
		able := eligible(s.Hosts, w, now)
		i := slices.IndexFunc(s.running, func(r *job) bool {
			return !slices.Contains(promised, r) && (r.host == nil || slices.Contains(able, r.host))
		})
		if i < 0 || !w.again.IsZero() {
			continue
		}
		r := s.running[i]
		promised = append(promised, r)
		if !r.parked && r.parkable(w) {
			r.parked = true
			r.cancel(ErrParked)
		}
	}
}

// begin starts a request if there is a slot for it.
func (s *Scheduler) begin(j *job, now time.Time) bool {
	if len(s.Hosts) == 0 && len(s.running) >= max(s.Slots, 1) {
		return false
	}
	if len(s.Hosts) > 0 {
		h, again := place(s.Hosts, j, now)
		if !again.IsZero() && again != j.again {
			s.settleAt(again, now)
		}
		if j.again = again; h == nil {
			return false
		}
		h.start(j, now)
	}
	s.running = append(s.running, j)
	close(j.start)
	return true
}

// settleAt settles again at a time, when a host has rested or was waited for long enough.
func (s *Scheduler) settleAt(at, now time.Time) {
	time.AfterFunc(at.Sub(now), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settle()
	})
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
