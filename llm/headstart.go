package llm

import (
	"context"
	"iter"
	"reflect"
	"sync"
	"time"
)

const (
	// unread is how many pieces of a reply wait until somebody requests it; then the engine waits.
	// Nobody takes longer to finish a sentence.
	unread = 64

	// untaken is how long a head start that nobody takes lasts.
	untaken = 5 * time.Second
)

// A HeadStart is a service that can begin a reply before it is known whether it is wanted, for
// example while somebody may still be speaking. At most one is running: the next request takes it
// over from its first piece if it is the same, or else drops it. Until then nobody sees any of it.
//
// A head start has the slot and the priority of the reply itself. It may be used from many
// goroutines.
type HeadStart struct {
	Service Service

	mu           sync.Mutex
	run          *headRun
	running      sync.WaitGroup
	begun, taken int
}

// A headRun is one reply that has begun.
type headRun struct {
	req    Request
	pieces chan piece
	broken error // why pieces was closed before the end of the reply; set before that
	cancel context.CancelFunc
	expiry *time.Timer
	done   chan struct{}
}

// A piece is what a stream yields.
type piece struct {
	Delta
	err error
}

// Begin begins a reply in the background, until ctx ends, in place of an earlier one. The same
// request again changes nothing. It does not block.
func (h *HeadStart) Begin(ctx context.Context, req *Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil && same(h.run.req, *req) {
		return
	}
	h.drop()
	ctx, cancel := context.WithCancel(ctx)
	r := &headRun{req: *req, pieces: make(chan piece, unread), cancel: cancel, done: make(chan struct{})}
	r.expiry = time.AfterFunc(untaken, func() { h.abandon(r) })
	h.run = r
	h.begun++
	h.running.Go(func() { r.stream(ctx, h.Service) })
}

// same reports whether two requests have the same answer, whatever they are made for: a head start
// has no turn yet.
func same(a, b Request) bool {
	a.Origin, b.Origin = Origin{}, Origin{}
	return reflect.DeepEqual(a, b)
}

// stream receives the reply.
func (r *headRun) stream(ctx context.Context, s Service) {
	defer close(r.done)
	defer r.cancel()
	defer close(r.pieces)
	for d, err := range s.Stream(ctx, &r.req) {
		select {
		case r.pieces <- piece{d, err}:
		case <-ctx.Done():
			r.broken = context.Cause(ctx)
			return
		}
	}
}

// Drop drops the head start, if there is one.
func (h *HeadStart) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop()
}

// Wait waits until no dropped head start is running.
func (h *HeadStart) Wait() { h.running.Wait() }

// Counts returns how many replies were begun early, and how many of them were taken.
func (h *HeadStart) Counts() (begun, taken int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun, h.taken
}

// abandon drops r, if nobody has taken it.
func (h *HeadStart) abandon(r *headRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == r {
		h.drop()
	}
}

// drop is Drop with the lock held.
func (h *HeadStart) drop() {
	if h.run != nil {
		h.run.expiry.Stop()
		h.run.cancel()
		h.run = nil
	}
}

// take returns the head start if it matches the request, and drops it otherwise.
func (h *HeadStart) take(req *Request) *headRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.run
	if r == nil || !same(r.req, *req) {
		h.drop()
		return nil
	}
	r.expiry.Stop()
	h.run = nil
	h.taken++
	return r
}

// On returns h with s as its service, for callers that stay with s although h has another by now.
// It still takes over head starts from h.
func (h *HeadStart) On(s Service) Service { return pinnedService{h, s} }

type pinnedService struct {
	head    *HeadStart
	service Service
}

// Stream implements [Service].
func (o pinnedService) Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error] {
	return o.head.on(ctx, o.service, req)
}

// Stream implements [Service].
func (h *HeadStart) Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error] {
	return h.on(ctx, h.Service, req)
}

// on streams the head start, or else the answer of s.
func (h *HeadStart) on(ctx context.Context, s Service, req *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if r := h.take(req); r != nil {
			r.follow(ctx, yield)
			return
		}
		for d, err := range s.Stream(ctx, req) {
			if !yield(d, err) {
				return
			}
		}
	}
}

// follow yields the pieces so far and the further ones, and releases the request before it
// returns.
func (r *headRun) follow(ctx context.Context, yield func(Delta, error) bool) {
	defer func() { r.cancel(); <-r.done }()
	for {
		select {
		case p, more := <-r.pieces:
			if !more && r.broken != nil {
				yield(Delta{}, r.broken)
			}
			if !more || !yield(p.Delta, p.err) {
				return
			}
		case <-ctx.Done():
			yield(Delta{}, context.Cause(ctx))
			return
		}
	}
}
