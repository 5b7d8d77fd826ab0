package room

import (
	"context"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/delivery"
)

const (
	// tellsLong is how long somebody must have spoken before the agent shows that it listens: most
	// sentences are shorter.
	tellsLong = 8 * time.Second

	// betweenBackchannels is the least time between two signs. People give them more often, but
	// from a machine that is tiring.
	betweenBackchannels = 12 * time.Second

	// backchannelLasts bounds one sign, including the delay of its device.
	backchannelLasts = 3 * time.Second
)

// backchannel is what is said. The built-in voice spells "mm-hm".
const backchannel = "Uh-huh."

// A backchannelState is when the agent last showed that it listens, and what ends that.
type backchannelState struct {
	shown time.Time
	end   context.CancelFunc // nil before the first
}

// stop ends the sign if it is still being said.
func (l *backchannelState) stop() {
	if l.end != nil {
		l.end()
	}
}

// due reports whether the agent should now show that it listens to somebody who has spoken since
// began.
func (l *backchannelState) due(began, now time.Time) bool {
	return now.Sub(began) >= tellsLong && (l.shown.IsZero() || now.Sub(l.shown) >= betweenBackchannels)
}

// notePause tells the owner that somebody who tells an agent something has paused. If the owner has
// not handled the last pause yet, that one is too old and is replaced.
func (r *Room) notePause(set *executive.Config, in resolvedEvent) {
	s, is := in.event.Body.(earshot.Speech)
	if !is || !s.Pause || !in.heeded || !in.to.ForAgent() || !set.Speech.Backchannels {
		return
	}
	r.pause.Store(&in)
	r.nudge()
}

// showListening makes the voices of the room say quietly that the agent listens, unless somebody
// wants it to be quiet. Nothing of it is kept, and a reply cuts it.
func (r *Room) showListening(ctx context.Context, in resolvedEvent, parts *sync.WaitGroup) {
	now := r.cfg.Now()
	r.mu.Lock()
	quiet := r.quiet
	r.mu.Unlock()
	if quiet || r.speaking() || !r.is().Answers() || len(r.pending) > 0 || !r.backchannelState.due(in.event.At, now) {
		return
	}
	r.backchannelState.shown = now
	ctx, r.backchannelState.end = context.WithTimeout(ctx, backchannelLasts)
	v := earshot.Visibility{Scope: earshot.Public}
	for _, p := range slices.DeleteFunc(r.places.Around(v), func(p *delivery.Outlet) bool { return !p.Audible() }) {
		parts.Go(func() {
			over := make(chan struct{})
			speaking, err := r.echoReference.Open(ctx, p.Outlet, earshot.Opening{Name: r.agents()[0].Name}, r.voiceFor(true), func(h earshot.Heard) {
				if h.End {
					close(over)
				}
			})
			if err != nil {
				return // a missing voice is reported where it is needed
			}
			speaking.Do(earshot.Duck)
			if speaking.Say(earshot.Clause{Spoken: backchannel}) == nil {
				speaking.Finish()
			}
			<-over
		})
	}
}
