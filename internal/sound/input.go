package sound

import (
	"context"
	"fmt"
	"iter"

	"earshot/internal/audio"
)

// An Input is an open microphone.
type Input struct{ s *stream }

// Input opens the microphone with a name, or the system's default for "". It waits while the card
// is down, until ctx ends; a device that cannot be opened is a *[Fault]. There can be one at a
// time.
func (c *Card) Input(ctx context.Context, device string) (*Input, error) {
	s, err := c.open(ctx, Open{Device: device})
	if err != nil {
		return nil, fmt.Errorf("opening the microphone: %w", err)
	}
	return &Input{s}, nil
}

// Frames yields the captured frames, until ctx ends, which is not an error, or the device or the
// card is lost, which is an error, yielded last with a nil frame. A frame is valid until the next
// one. Leaving the loop closes the input: when the range statement completes, nothing is captured
// any more. It can be ranged over once.
func (i *Input) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		defer i.Close()
		var f audio.Frame
		for {
			if err := i.s.ring.Take(ctx, &f); err != nil {
				if ctx.Err() == nil {
					yield(nil, fmt.Errorf("listening: %w", err))
				}
				return
			}
			if !yield(&f, nil) {
				return
			}
		}
	}
}

// Close closes the input, for callers that do not range over its frames. It returns when nothing
// is captured any more.
func (i *Input) Close() { i.s.end() }

// end closes the stream, unless it is over.
func (s *stream) end() {
	select {
	case <-s.lost:
	default:
		s.line.close(s)
	}
}
