package sound

import (
	"context"
	"fmt"

	"earshot/internal/sound/deck"
)

// An Output is an open loudspeaker. Its methods may be called from many
// goroutines.
type Output struct{ s *stream }

// Output opens the loudspeaker with a name, or the system's default for "", at a volume from 0 to
// 1, which is a gain. It waits while the card is down, until ctx ends; a device that cannot be
// opened is a *[Fault]. There can be one at a time.
func (c *Card) Output(ctx context.Context, device string, volume float64) (*Output, error) {
	if !(volume >= 0) {
		volume = 0
	}
	s, err := c.open(ctx, Open{Output: true, Device: device, Volume: min(volume, 1)})
	if err != nil {
		return nil, fmt.Errorf("opening the loudspeaker: %w", err)
	}
	return &Output{s}, nil
}

// Lost is closed when the output is over: the device or the card is lost, or it
// was closed.
func (o *Output) Lost() <-chan struct{} { return o.s.lost }

// Err returns why the output is over, or nil while it is not.
func (o *Output) Err() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	return o.s.err
}

// Close ends the output and the speech on it, and returns when nothing is played any more. It must
// not be called from within a moved function.
func (o *Output) Close() { o.s.end() }

// Play begins a speech at a rate, from 8000 to [deck.MaxRate] samples a second. There can be one at a
// time: before the end of the previous one was reported, the error is [ErrBusy]. Another rate than
// before opens the device anew, which takes a moment and loses what was learnt about the echo.
//
// moved receives the position, from one goroutine at a time: it never goes back, and the last one
// has End set, exactly once: when everything was played after Finish, after a cut, or when the
// output is over. The function must not block.
func (o *Output) Play(rate int, moved func(Position)) (*Playing, error) {
	l := o.s.line
	p := &Playing{line: l, out: o.s, number: l.card.next(), most: 2 * deck.Most(rate), moved: moved}
	l.mu.Lock()
	if l.output != o.s || o.Err() != nil { // it may be closing
		l.mu.Unlock()
		return nil, o.why()
	}
	if l.playing != nil {
		l.mu.Unlock()
		return nil, ErrBusy
	}
	l.playing = p
	l.newest = max(l.newest, p.number)
	l.mu.Unlock()
	if l.link.Send(SayPlay, Play{o.s.number, p.number, rate}) != nil {
		l.endPlaying(o.s)
		return nil, ErrCard
	}
	return p, nil
}

// why returns why the output is over.
func (o *Output) why() error {
	if err := o.Err(); err != nil {
		return err
	}
	return ErrCard
}
