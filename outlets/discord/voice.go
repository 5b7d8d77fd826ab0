package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"earshot"
	"earshot/internal/discord/calls"
	"earshot/internal/playback"
	"earshot/internal/sound"
)

// errUnheard says that an announcement was not heard to its end.
var errUnheard = errors.New("it was not heard to its end")

// A device is a player of a call, for package playback.
type device struct{ *calls.Player }

// Play implements [playback.Player].
func (d device) Play(rate int, moved func(sound.Position)) (playback.Playing, error) {
	p, err := d.Player.Play(rate, moved)
	if err != nil {
		return nil, err // not p, which is nil but not a nil Playing
	}
	return p, nil
}

// A Voice is the outlet that says replies in one call after another, on a [calls.Player]. It is in
// the room while there is a call and a voice. Its methods may be called from any goroutine.
type Voice struct {
	*playback.Outlet

	mu     sync.Mutex
	player *calls.Player // nil outside a call
	comes  chan struct{} // closed when there is a call, and a voice for it
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
func (v *Voice) Run(ctx context.Context, call calls.Sender, enc calls.Encoder, enter func(earshot.Outlet) (leave func())) {
	player := calls.NewPlayer(ctx, call, enc)
	v.mu.Lock()
	v.player = player
	comes := v.comes
	v.mu.Unlock()
	came := sync.OnceFunc(func() { close(comes) })
	v.Outlet.Run(ctx, device{player}, func() func() { // which closes the player
		came()
		return enter(v)
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.player = nil
	select {
	case <-comes:
		v.comes = make(chan struct{})
	default: // a goroutine that waits for it goes on waiting
	}
}

// Encoded takes a frame from the encoder of the call. It does not block.
func (v *Voice) Encoded(ctx context.Context, opus []byte) {
	v.mu.Lock()
	player := v.player
	v.mu.Unlock()
	if player != nil {
		player.Take(ctx, opus)
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
