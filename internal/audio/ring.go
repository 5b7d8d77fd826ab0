package audio

import (
	"context"
	"io"
	"math"
	"sync"
)

// A Ring holds the newest frames of one producer, who never waits, until one
// reader takes them. When it is full the oldest frame is dropped, since late
// sound is worse than none, and the one behind it counts that in its Lost.
// Put and Close may be called from any goroutine, Take from one at a time.
type Ring struct {
	some chan struct{} // holds one token when the reader may have to look again

	mu     sync.Mutex
	frames []Frame
	first  int // the oldest
	kept   int
	err    error // why it was closed
}

// NewRing returns a ring for n frames, at least one. It keeps about 700 bytes a
// frame, and nothing is allocated later.
func NewRing(n int) *Ring {
	return &Ring{some: make(chan struct{}, 1), frames: make([]Frame, max(1, n))}
}

// Put copies f into the ring. In a closed ring it does nothing.
func (r *Ring) Put(f *Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	missing := 0
	if r.kept == len(r.frames) {
		missing = 1 + int(r.frames[r.first].Lost)
		r.first = (r.first + 1) % len(r.frames)
		r.kept--
	}
	r.frames[(r.first+r.kept)%len(r.frames)] = *f
	r.kept++
	oldest := &r.frames[r.first]
	oldest.Lost = uint16(min(int(oldest.Lost)+missing, math.MaxUint16))
	r.wake()
}

// Take copies the oldest frame into f, and waits for one. When the ring is
// closed and empty it returns the error of Close, and when ctx ends before
// there is a frame, its cause.
func (r *Ring) Take(ctx context.Context, f *Frame) error {
	for {
		if ok, err := r.take(f); ok || err != nil {
			return err
		}
		select {
		case <-r.some:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *Ring) take(f *Frame) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == 0 {
		return false, r.err
	}
	*f = r.frames[r.first]
	r.first = (r.first + 1) % len(r.frames)
	r.kept--
	return true, nil
}

// Close says that no more frames come, because of err; nil stands for io.EOF.
// What the ring holds can still be taken. Only the first call counts.
func (r *Ring) Close(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = io.EOF
	}
	if r.err == nil {
		r.err = err
	}
	r.wake()
}

func (r *Ring) wake() {
	select {
	case r.some <- struct{}{}:
	default:
	}
}
