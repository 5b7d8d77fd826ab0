package room

import (
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/midturn"
	"earshot/interrupt"
)

// pendingCuts are the words that were still being said when they cut a reply, by the device through
// which they were heard. Usually an utterance replaces them. If none does, because nobody
// understood what was said, or the agent's own voice came back, they are still kept: it is always
// on record what has cut a reply.
type pendingCuts map[earshot.Handle]resolvedEvent

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
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.pendingCuts[in.event.From]; known || len(r.pendingCuts) < activity.MaxPeople {
		if r.pendingCuts == nil {
			r.pendingCuts = make(pendingCuts)
		}
		r.pendingCuts[in.event.From] = in
	}
	r.nudge() // to wait for what becomes of them
}

// cutBy takes the words that had cut a reply and that e ends, and reports whether there were any.
func (r *Room) cutBy(e earshot.Event) (in resolvedEvent, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if in, cut = r.pendingCuts[e.From]; cut && !r.listener.End(e).Before(in.event.At) {
		delete(r.pendingCuts, e.From)
		return in, true
	}
	return in, false
}

// keepCutOf keeps the words that had cut a reply and that e ends without an utterance.
func (r *Room) keepCutOf(e earshot.Event) {
	if cut, is := r.cutBy(e); is {
		r.keepsCut(cut)
	}
}

// keepsCut keeps words that have cut a reply and were never completed, as they were understood.
func (r *Room) keepsCut(in resolvedEvent) {
	if !r.mode.TakesIn(in.event) {
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
	s, _ := e.Body.(earshot.Speech)
	e.ID, e.To = r.cfg.NewID(), nil
	e.Body = earshot.Utterance{Text: s.Words, Confidence: s.Confidence, LikeAgent: s.LikeAgent, Lasted: max(0, r.cfg.Now().Sub(e.At))}
	return e
}

// leavesCuts keeps words that have cut a reply and whose end does not come before the room closes.
func (r *Room) leavesCuts() {
	r.mu.Lock()
	left := r.pendingCuts
	r.pendingCuts = nil
	r.mu.Unlock()
	for _, in := range left {
		if r.mode.TakesIn(in.event) {
			r.unsaved.Add(r.uttered(in.event))
		}
	}
}

// fadingCuts returns when words that cut a reply must be kept because no utterance followed; the
// zero time if there are none.
func (r *Room) fadingCuts() (first time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.pendingCuts {
		if at := in.came.Add(activity.VoiceExpiry); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// keepsCuts keeps the words that no utterance has followed for long.
func (r *Room) keepsCuts() {
	var gone []resolvedEvent
	r.mu.Lock()
	for from, in := range r.pendingCuts {
		if r.cfg.Now().Sub(in.came) >= activity.VoiceExpiry {
			gone = append(gone, in)
			delete(r.pendingCuts, from)
		}
	}
	r.mu.Unlock()
	for _, in := range gone {
		r.keepsCut(in)
	}
}
