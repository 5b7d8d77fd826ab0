package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"earshot"
	"earshot/internal/playback"
)

// A Call is the call in which is spoken, of which nobody else uses these methods.
// [earshot/internal/discord/voice.Call] is one. They may be called from any goroutine.
type Call interface {
	// Say queues one Opus frame of 20 ms. It waits while ten are ahead.
	Say(ctx context.Context, opus []byte) error

	// Hush drops what has not left; when it returns, none of it leaves any more.
	Hush() (dropped int)

	// Sent returns how many frames have left, and Moved what is closed when another
	// has, or is hushed.
	Sent() int64
	Moved() <-chan struct{}

	// Over is closed when the call has ended.
	Over() <-chan struct{}
}

// An Encoder makes Opus of sound. [earshot/internal/codec.Opus] is one. What it makes
// it hands to [Voice.Encoded].
type Encoder interface {
	// Encode takes samples. It fails, in whatever way, if what it has taken before
	// and not handed on is lost, and begins anew with the next ones.
	Encode(ctx context.Context, rate int, pcm []int16) error

	// Flush returns when all of it has been handed on.
	Flush(ctx context.Context) error

	// Drop gives up what has not been handed on.
	Drop()
}

// errUnheard is an announcement that was not heard to its end.
var errUnheard = errors.New("it was not heard to its end")

// A Voice is the outlet that says replies in one call after the other. It is in the room
// while there is a call and a voice. Its methods may be called from any goroutine.
//
// What is heard is what has left: a frame that waits because encryption is not ready
// is not. At most 100 ms are made into frames in advance. A pause or a cut drops them,
// so that the next frame which leaves is silence, and a speech that goes on does so at
// the sample that has not left.
type Voice struct {
	*playback.Outlet

	mu    sync.Mutex
	mouth *callPlayer   // nil outside a call
	comes chan struct{} // closed when there is a call, and a voice for it
}

// NewVoice returns one that is in no call. It speaks with voice.
func NewVoice(voice playback.Voice) *Voice {
	return &Voice{Outlet: playback.New(voice), comes: make(chan struct{})}
}

// Name implements [earshot.Outlet].
func (v *Voice) Name() string { return "discord voice" }

// Run speaks in a call, and keeps the outlet in the room while there is a voice, until
// ctx or the call ends. When it returns every speech has ended, with what was heard of
// it, and nothing uses call and enc any more. It is not called twice at a time.
func (v *Voice) Run(ctx context.Context, call Call, enc Encoder, enter func(earshot.Outlet) (leave func())) {
	m := newCallPlayer(call, enc)
	speaking, stop := context.WithCancel(ctx)
	m.stop = stop
	var life sync.WaitGroup
	life.Go(func() { m.run(speaking) })
	v.mu.Lock()
	v.mouth = m
	comes := v.comes
	v.mu.Unlock()
	came := sync.OnceFunc(func() { close(comes) })
	v.Outlet.Run(ctx, m, func() func() {
		came()
		return enter(v)
	})
	v.mu.Lock()
	v.mouth = nil
	select {
	case <-comes:
		v.comes = make(chan struct{})
	default: // who waits for it waits on
	}
	v.mu.Unlock()
	stop()
	life.Wait()
}

// Encoded takes a frame that the encoder of the call has made. It does not wait.
func (v *Voice) Encoded(ctx context.Context, opus []byte) {
	v.mu.Lock()
	m := v.mouth
	v.mu.Unlock()
	if m != nil {
		m.encoded(ctx, opus)
	}
}

// Announce says something that everybody must hear to its end, such as that there is
// somebody who listens. It waits for a call and a voice, and until it was heard; a reply waits for
// its end. What it cuts itself is a reply that is going on.
func (v *Voice) Announce(ctx context.Context, text earshot.Text) error {
	v.mu.Lock()
	comes := v.comes
	v.mu.Unlock()
	select {
	case <-comes:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	end := make(chan earshot.Heard, 1)
	s, err := v.Open(ctx, earshot.Opening{Protected: true}, func(h earshot.Heard) {
		if h.End {
			end <- h
		}
	})
	if err != nil {
		return fmt.Errorf("announcing: %w", err)
	}
	err = s.Say(earshot.Clause{Text: text})
	s.Finish()
	if h := <-end; err == nil && h.Byte < len(text) {
		err = errUnheard
	}
	if err != nil {
		return fmt.Errorf("announcing: %w", err)
	}
	return nil
}
