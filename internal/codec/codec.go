// Package codec is the client of the media role of earshot-speech: it turns a
// sound file or a stream from the network ([Open]), or what many say in a call
// ([Opus]), into the frames that a microphone makes, 16 kHz, mono, each marked as
// voiced or not; and for the call it encodes what is said.
//
// When the reader of a source is slow, the source waits: nothing of a recording is
// lost. What is ahead of the reader is at most [ahead] frames here and the pipe of
// the helper, less than three seconds. A live stream that waits too long is ended by
// its server, which is an error like any other.
//
// What is heard in a call waits for nobody: a busy helper is two seconds behind at
// most, then the oldest packets are dropped and counted. Who encodes waits for who
// takes the Opus frames, which is 400 ms behind at most.
package codec

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// ahead is how many frames wait for a slow reader.
const ahead = 8

// patient is how long a server may say nothing. Live streams pause for some
// seconds at most.
var patient = 10 * time.Second

// slow is how long the helper may say nothing about the source: longer than it
// may wait for a server itself, once to connect and once to answer.
const slow = 30 * time.Second

// Open starts a helper for source and yields its frames, one after the other
// without a gap. Leaving the loop, or the end of ctx, ends the helper before
// the range statement completes. The frame is valid until the next one is asked
// for.
//
// An error is yielded at most once, last, with a nil frame: an *[Error] is the
// fault of the source, anything else of the helper. The end of ctx is none.
func Open(ctx context.Context, dial helper.Dialer, source Source) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		request, err := source.request()
		if err != nil {
			yield(nil, err)
			return
		}
		err = hear(ctx, dial, &source, request, yield)
		if err != nil && ctx.Err() == nil {
			yield(nil, err)
		}
	}
}

// errLeft is that the loop was left.
var errLeft = errors.New("the loop was left")

// hear is one life of a helper. It yields frames but no error.
func hear(ctx context.Context, dial helper.Dialer, source *Source, request Request, yield func(*audio.Frame, error) bool) error {
	link, err := dial()
	if err != nil {
		return fmt.Errorf("opening %q: %w", source.name(), err)
	}
	p := newPlayer(source, request)
	inner, stop := context.WithCancel(ctx)
	var life sync.WaitGroup
	var death error
	life.Go(func() {
		defer close(p.gone)
		death = link.Run(inner, helper.Handler{
			Control: p.control,
			Sound:   func(s helper.Sound) error { return p.sound(inner, s) },
		})
	})
	err = func() error {
		defer life.Wait()
		defer stop()
		return p.play(inner, link, request, yield)
	}()
	switch {
	case errors.Is(err, errGone) && death != nil:
		return fmt.Errorf("playing %q: %w", source.name(), death)
	case errors.Is(err, errLeft):
		return nil
	}
	return err
}
