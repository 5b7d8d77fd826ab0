package room

import (
	"context"
	"sync"

	"earshot"
	"earshot/executive"
)

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
	if quiet || r.speaking() || !r.is().Answers() || len(r.pending) > 0 {
		return
	}
	ctx, due := r.backchannels.Begin(ctx, in.event.At, now)
	if !due {
		return
	}
	for _, p := range r.places.Around(earshot.Visibility{Scope: earshot.Public}) {
		if p.Audible() {
			parts.Go(func() { r.listener.Backchannel(ctx, p.Outlet, r.voiceFor(true)) })
		}
	}
}
