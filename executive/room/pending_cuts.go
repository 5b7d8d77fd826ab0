package room

import (
	"context"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/hearing"
	"earshot/executive/midturn"
	"earshot/interrupt"
)

// heedWords lets words that are still being said act on the floor, and remembers them if they have
// cut a reply.
func (r *Room) heedWords(set *executive.Config, in resolvedEvent) {
	r.mu.Lock()
	live := r.activeTurn != nil && !r.activeTurn.Protected()
	r.mu.Unlock()
	if cut := r.heed(set, in.signal) == interrupt.Cut; !cut || !live {
		return
	}
	if s, is := in.event.Body.(earshot.Speech); !is || s.Words == "" {
		return
	}
	r.pendingCuts.Add(in.event.From, in.event.At, in.came, in)
	r.nudge() // to wait for what becomes of them
}

// cutBy takes the words that had cut a reply and that e ends, and reports whether there were any.
func (r *Room) cutBy(e earshot.Event) (in resolvedEvent, cut bool) {
	return r.pendingCuts.Take(e.From, r.listener.End(e))
}

// keepCutOf keeps the words that had cut a reply and that e ends without an utterance.
func (r *Room) keepCutOf(e earshot.Event) {
	if cut, is := r.cutBy(e); is {
		r.keepsCut(cut)
	}
}

// keepsCut keeps words that have cut a reply and were never completed, as they were understood.
func (r *Room) keepsCut(in resolvedEvent) {
	if r.deaf(in.event) {
		return
	}
	in.event = r.uttered(in.event)
	in.to, in.aim, in.sideTalk, in.before, in.held = conversation.Unsure, addressing.Addressees{}, midturn.SideTalk{}, "", false
	in.signal = sent(in.event)
	en, first, err := r.reserve(in)
	if err != nil {
		r.cfg.Log.Warn("what cut a reply off could not be kept", "err", err)
		return
	}
	if first {
		en.ticket = r.floor.Ticket()
		r.queue(en)
	}
}

// uttered returns words that are still being said as an utterance.
func (r *Room) uttered(e earshot.Event) earshot.Event {
	return hearing.Uttered(e, r.cfg.NewID(), r.cfg.Now())
}

// leavesCuts keeps words that have cut a reply and whose end does not come before the room closes.
func (r *Room) leavesCuts() {
	for _, in := range r.pendingCuts.Drain() {
		if !r.deaf(in.event) {
			r.unsaved = append(r.unsaved, r.uttered(in.event))
		}
	}
}

// keepsCuts keeps the words that no utterance has followed for long.
func (r *Room) keepsCuts(context.Context) {
	for _, in := range r.pendingCuts.Expire(r.cfg.Now()) {
		r.keepsCut(in)
	}
}
