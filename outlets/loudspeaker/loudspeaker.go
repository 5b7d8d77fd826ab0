// Package loudspeaker is the outlet that says replies aloud. What was heard is what the device has
// played, to the word. Package playback turns a reply into sound, and says what waits for what; at
// most 200 ms of sound are ahead in the helper.
package loudspeaker

import (
	"cmp"
	"context"
	"errors"

	"earshot"
	"earshot/internal/playback"
	"earshot/internal/sound"
)

// A Voice synthesises speech; a Fickle one is not always available. A Playing is one speech on a
// [Player].
type (
	Voice   = playback.Voice
	Fickle  = playback.Fickle
	Playing = playback.Playing
)

// A Player is an open loudspeaker. [sound.Output] is one behind [OnCard].
type Player interface {
	playback.Player

	// Err says why the device was lost, once it is.
	Err() error
}

// An Open opens the loudspeaker with a name, or the default one for "". It waits for it until ctx
// ends.
type Open func(ctx context.Context, device string, volume float64) (Player, error)

// OnCard returns an Open for the loudspeakers of a card.
func OnCard(c *sound.Card) Open {
	return func(ctx context.Context, device string, volume float64) (Player, error) {
		o, err := c.Output(ctx, device, volume)
		if err != nil {
			return nil, err
		}
		return output{o}, nil
	}
}

type output struct{ *sound.Output }

func (o output) Play(rate int, moved func(sound.Position)) (Playing, error) {
	p, err := o.Output.Play(rate, moved)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ErrClosed is the error of a speech while no loudspeaker is open.
var ErrClosed = playback.ErrClosed

// errGone is the error of a device that is lost without a reason.
var errGone = errors.New("the loudspeaker is gone")

// A Loudspeaker is the outlet. It is in the room while its device is open and it has a voice. Its
// methods may be called from any goroutine.
type Loudspeaker struct {
	*playback.Outlet
	cfg  Config
	open Open
}

// New returns the loudspeaker that cfg names. It opens nothing until it runs.
func New(cfg Config, open Open, voice Voice) *Loudspeaker {
	return &Loudspeaker{playback.New(voice), cfg, open}
}

// Name implements [earshot.Outlet].
func (l *Loudspeaker) Name() string { return "loudspeaker" }

// Run opens the device and keeps the outlet in the room, while there is a voice, until the device
// is lost, which is an error, or ctx ends, which is not. It neither retries nor reports: a
// supervisor does both. When it returns, every speech has ended.
func (l *Loudspeaker) Run(ctx context.Context, enter func(earshot.Outlet) (leave func())) error {
	player, err := l.open(ctx, l.cfg.Device, l.cfg.Volume)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	l.Outlet.Run(ctx, player, func() func() { return enter(l) })
	if ctx.Err() != nil {
		return nil
	}
	return cmp.Or(player.Err(), errGone)
}
