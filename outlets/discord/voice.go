package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"earshot"
	"earshot/internal/playback"
)

// A Call is the call to speak in; nobody else uses these methods of it.
// [earshot/internal/discord/voice.Call] is one. They may be called from any goroutine.
type Call interface {
	// Say queues one Opus frame of 20 ms. It waits while ten are queued.
	Say(ctx context.Context, opus []byte) error

	// Hush drops the frames that have not left; when it returns, none of them will leave any more.
	Hush() (dropped int)

	// Sent returns how many frames have left. Moved returns a channel that is closed when another
	// has left or was dropped.
	Sent() int64
	Moved() <-chan struct{}

	// Over is closed when the call has ended.
	Over() <-chan struct{}
}

// An Encoder encodes sound as Opus. [earshot/internal/codec.Opus] is one. It passes its frames to
// [Voice.Encoded].
type Encoder interface {
	// Encode takes samples. If it fails, what it has taken before and not passed on is lost, and it
	// begins anew with the next samples.
	Encode(ctx context.Context, rate int, pcm []int16) error

	// Flush returns when everything has been passed on.
	Flush(ctx context.Context) error

	// Drop discards what has not been passed on.
	Drop()
}

// errUnheard says that an announcement was not heard to its end.
var errUnheard = errors.New("it was not heard to its end")

// A Voice is the outlet that says replies in one call after another. It is in the room while there
// is a call and a voice. Its methods may be called from any goroutine.
//
// What is heard is what has left: a frame that waits for encryption is not heard yet. At most 100
// ms are encoded in advance. A pause or a cut drops those frames, so that the next frame is
// silence; a speech that goes on continues at the first sample that has not left.
type Voice struct {
	*playback.Outlet

	mu    sync.Mutex
	mouth *callPlayer   // nil outside a call
	comes chan struct{} // closed when there is a call, and a voice for it
}

// NewVoice returns a Voice that is in no call. It speaks with voice.
func NewVoice(voice playback.Voice) *Voice {
	return &Voice{Outlet: playback.New(voice), comes: make(chan struct{})}
}

// Name implements [earshot.Outlet].
func (v *Voice) Name() string { return "discord voice" }

// Run speaks in a call, and keeps the outlet in the room while there is a voice, until ctx or the
// call ends. When it returns, every speech has ended and reported what was heard, and nothing uses
// call and enc any more. Calls must not overlap.
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
	default: // a goroutine that waits for it goes on waiting
	}
	v.mu.Unlock()
	stop()
	life.Wait()
}

// Encoded takes a frame from the encoder of the call. It does not block.
func (v *Voice) Encoded(ctx context.Context, opus []byte) {
	v.mu.Lock()
	m := v.mouth
	v.mu.Unlock()
	if m != nil {
		m.encoded(ctx, opus)
	}
}

// Announce says something that everybody must hear to its end, such as that somebody is listening.
// It waits for a call and a voice, and until everything was heard; replies wait for its end. It
// cuts a reply that is going on.
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
