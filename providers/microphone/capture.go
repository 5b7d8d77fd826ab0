package microphone

import (
	"context"
	"iter"

	"earshot/internal/audio"
	"earshot/internal/sound"
)

// OnCard returns the microphone with a name on a card, or the system's default for "".
func OnCard(c *sound.Card, device string) Capture { return cardCapture{c, device} }

type cardCapture struct {
	card   *sound.Card
	device string
}

func (o cardCapture) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		input, err := o.card.Input(ctx, o.device)
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		input.Frames(ctx)(yield)
	}
}
