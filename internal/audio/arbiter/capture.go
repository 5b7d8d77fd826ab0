package arbiter

import (
	"context"
	"iter"
	"time"

	"earshot/internal/audio"
)

// A Capture is a microphone, or a substitute, as package providers/microphone has it.
type Capture interface {
	// Frames opens it and yields 20 ms at a time, valid until the next, until ctx ends or it ends
	// by itself. An error is yielded once, last. Leaving the loop closes it.
	Frames(ctx context.Context) iter.Seq2[*audio.Frame, error]
}

// Wrap returns a capture of a room as one of several: id is unique among them.
func (a *Arbiter) Wrap(id string, c Capture) Capture { return capture{c, a, id} }

type capture struct {
	Capture
	arbiter *Arbiter
	id      string
}

// Frames implements [Capture]. What is held back when c ends goes out before that.
func (c capture) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		s := c.arbiter.Join(c.id)
		defer c.arbiter.Leave(s)
		for f, err := range c.Capture.Frames(ctx) {
			if err != nil {
				c.arbiter.End(s)
			} else {
				c.arbiter.Step(s, f, time.Now())
			}
			for f := s.Next(); f != nil; f = s.Next() {
				if !yield(f, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		c.arbiter.End(s)
		for f := s.Next(); f != nil && ctx.Err() == nil; f = s.Next() {
			if !yield(f, nil) {
				return
			}
		}
	}
}
