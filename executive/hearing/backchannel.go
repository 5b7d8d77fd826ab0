package hearing

import (
	"context"
	"time"

	"earshot"
	"earshot/executive/echo"
)

const (
	// tellsLong is how long somebody must have spoken before the agent shows that it is listening:
	// most sentences are shorter.
	tellsLong = 8 * time.Second

	// betweenBackchannels is the least time between two signs. People give them more often, but
	// coming from a machine that would be tiring.
	betweenBackchannels = 12 * time.Second

	// backchannelLasts bounds the duration of one sign, including the delay of its device.
	backchannelLasts = 3 * time.Second
)

// backchannel is the sign. The built-in voice would spell "mm-hm".
const backchannel = "Uh-huh."

// Backchannels keeps track of the signs by which the agent shows that it is listening: when it gave
// the last one, and how to end it. The zero value is ready to use, and not safe for concurrent use.
type Backchannels struct {
	shown time.Time
	end   context.CancelFunc // nil before the first
}

// Begin begins a sign, if one is due to somebody who has been speaking since began. The sign ends
// with the context that Begin returns.
func (b *Backchannels) Begin(ctx context.Context, began, now time.Time) (_ context.Context, due bool) {
	if now.Sub(began) < tellsLong || !b.shown.IsZero() && now.Sub(b.shown) < betweenBackchannels {
		return nil, false
	}
	b.shown = now
	ctx, b.end = context.WithTimeout(ctx, backchannelLasts)
	return ctx, true
}

// Stop ends the sign if it is still being said.
func (b *Backchannels) Stop() {
	if b.end != nil {
		b.end()
	}
}

// Backchannel says one sign quietly through an outlet, and returns when it is over or ctx has ended.
func (l *Listener) Backchannel(ctx context.Context, o earshot.Outlet, v echo.Voice) {
	over := make(chan struct{})
	speaking, err := l.Echo.Open(ctx, o, earshot.Opening{Name: l.Agents()[0].Name}, v, func(h earshot.Heard) {
		if h.End {
			close(over)
		}
	})
	if err != nil {
		return // a missing voice is reported where a voice is needed
	}
	speaking.Do(earshot.Duck)
	if speaking.Say(earshot.Clause{Spoken: backchannel}) == nil {
		speaking.Finish()
	}
	<-over
}
