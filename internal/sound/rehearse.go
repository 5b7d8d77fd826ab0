package sound

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// RehearseArg is the argument that makes the helper rehearse instead of looking for a sound card:
// see [Rehearse].
const RehearseArg = "rehearse"

// The streams of a rehearsal.
const (
	RehearseNear = 1 // frames of the microphone, which are returned
	RehearseFar  = 2 // frames of the loudspeaker
)

// A Take is a frame of a rehearsal.
type Take struct {
	// Far says that Frame is what the loudspeaker plays, from At on according to the device; with
	// Lost, it does not follow the one before. Otherwise it is what the microphone captures, and
	// only At, Lost and PCM count.
	Far   bool
	Frame *audio.Frame
}

// Rehearse starts a helper of its own, by dial with [RehearseArg], which processes recorded sound
// like that of a card, as fast as it can. It yields the frames of the microphone, as
// [Input.Frames] would. A frame is valid until the next one; takes must come in the order of their
// times. Leaving the loop, or the end of ctx, ends the helper before the range statement
// completes; an error is yielded last, with a nil frame.
func Rehearse(ctx context.Context, dial helper.Dialer, takes iter.Seq[Take]) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		link, err := dial()
		if err != nil {
			yield(nil, fmt.Errorf("rehearsing: %w", err))
			return
		}
		ctx, stop := context.WithCancel(ctx)
		r := rehearsal{link: link, frames: make(chan audio.Frame, 8), given: make(chan int, 1)}
		var death error
		var life sync.WaitGroup
		life.Go(func() {
			defer close(r.frames)
			death = link.Run(ctx, helper.Handler{Control: r.control, Sound: func(m helper.Sound) error { return r.sound(ctx, m) }})
		})
		life.Go(func() { r.give(takes) })
		whole := r.yield(yield)
		stop()
		life.Wait()
		if !whole && death != nil {
			yield(nil, fmt.Errorf("rehearsing: %w", death))
		}
	}
}

// A rehearsal is the state of one rehearsal.
type rehearsal struct {
	link   helper.Link
	frames chan audio.Frame // closed when the helper is gone
	given  chan int         // how many frames will come back, once known
}

// give sends the takes.
func (r *rehearsal) give(takes iter.Seq[Take]) {
	var buf []byte
	n := 0
	for t := range takes {
		stream := uint32(RehearseFar)
		if !t.Far {
			stream = RehearseNear
			n++
		}
		buf = t.Frame.Append(buf[:0])
		if r.link.SendSound(stream, buf) != nil {
			return // the helper is gone
		}
	}
	r.given <- n
}

// yield yields what comes back, and reports whether no more is wanted.
func (r *rehearsal) yield(yield func(*audio.Frame, error) bool) (whole bool) {
	all, came := -1, 0
	for came != all {
		select {
		case all = <-r.given:
		case f, ok := <-r.frames:
			if !ok {
				return false
			}
			came++
			if !yield(&f, nil) {
				return true
			}
		}
	}
	return true
}

// sound handles a frame that comes back.
func (r *rehearsal) sound(ctx context.Context, m helper.Sound) error {
	var f audio.Frame
	if err := f.Decode(m.Data); err != nil {
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	}
	select {
	case r.frames <- f:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// control refuses control messages, which a rehearsal never sends.
func (r *rehearsal) control(m helper.Control) error {
	return fmt.Errorf("%w: it said %q", helper.ErrProtocol, m.Name)
}
