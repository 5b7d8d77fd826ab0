package room

import (
	"context"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/executive/reflex"
	"earshot/executive/turn"
)

// ending is a turn that is over.
type ending struct {
	question question
	began    time.Time
	reply    earshot.Reply
	err      error
	asked    *asking // nil if no model was
}

// next begins a turn if a question waits and the floor is free.
func (r *Room) next(ctx context.Context, turns *sync.WaitGroup) {
	if len(r.pending) == 0 || r.speaking() || ctx.Err() != nil {
		return
	}
	q := r.pending[0]
	r.pending = slices.Delete(r.pending, 0, 1)
	set := r.cfg.Settings()
	places := r.outlets(q.message, set)
	if len(places) == 0 && q.message.Visibility.Scope == earshot.Private {
		r.tell(q.message.Via, earshot.Notice{Text: "I cannot answer that in private here: others read this too"})
		r.giveUp(q)
		r.keep(ctx)
		r.next(ctx, turns)
		return
	}
	spec := turn.Spec{
		Opening: earshot.Opening{
			Turn: q.turn, About: q.message.ID, Name: set.Name,
			To: q.message.Author, Private: q.message.Visibility.Scope == earshot.Private,
		},
		Floor: r.floor, Since: q.ticket, Ahead: set.Streaming.BufferSize,
		Whole: !set.Streaming.DisplayPartial, Drain: drain, Stall: stall,
		Lost: func(outlet string, err error) {
			r.cfg.Log.Warn("an outlet broke; the turn goes on without it", "outlet", outlet, "turn", q.turn, "err", err)
		},
	}
	var asked *asking
	spec.Text, asked = r.text(set, &q, r.listeners(q.message), slices.ContainsFunc(places, (*place).Audible))
	spec.Outlets = r.showing(places, q.visibility)
	r.setLive(q.turn, q.message)
	r.cfg.Log.Debug("turn begins", "turn", q.turn, "outlets", len(places), "model", asked != nil)
	began := r.cfg.Now()
	turns.Go(func() {
		reply, err := turn.Run(ctx, spec)
		reply.Reflex = asked == nil
		reply.Truncated = asked != nil && asked.truncated
		r.ended <- ending{q, began, reply, err, asked}
	})
}

// showing makes some places the outlets of a turn.
func (r *Room) showing(places []*place, v earshot.Visibility) (outlets []earshot.Outlet) {
	var showings []*showing
	for _, p := range places {
		s := &showing{place: p, visibility: v}
		showings, outlets = append(showings, s), append(outlets, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.showings = showings
	return outlets
}

// conclude writes down the truth about a turn.
func (r *Room) conclude(ctx context.Context, e ending) {
	r.setLive("", earshot.Event{})
	if !r.cfg.Settings().Interruption.SavePartial {
		e.reply.Offered = e.reply.Delivered()
	}
	done := r.end(e.question, e.reply)
	done.At = e.began
	if n, news := r.health(e); news { // first, since who waits for the reply may leave when it has ended
		r.unsaved = append(r.unsaved, r.event(earshot.Visibility{Scope: earshot.System}, n))
	}
	r.unsaved = append(r.unsaved, done)
	if e.asked != nil {
		r.foreign += e.asked.foreign
	}
	if e.asked != nil && e.asked.halved {
		r.once(earshot.Notice{
			Key: "context", Text: "the dialogue is too long for the model; its older half was left out",
			Cure: "choose a model with a larger context, or give it one (for Ollama: OLLAMA_CONTEXT_LENGTH)",
		})
	}
	if _, aloud := e.question.message.Body.(earshot.Utterance); aloud && e.reply.Delivered() != "" {
		r.talked(e.question.message, r.cfg.Now())
	}
	if e.reply.Offered != "" {
		r.spoke(done, e.asked != nil || e.question.want == reflex.Resume)
	}
	if e.err != nil {
		r.cfg.Log.Warn("the turn failed", "turn", e.reply.Turn, "why", kind(e.err))
	}
	r.cfg.Log.Info("turn ended", "turn", e.reply.Turn, "outcome", string(e.reply.Outcome),
		"offered", len(e.reply.Offered), "delivered", len(e.reply.Delivered()), "took", r.cfg.Now().Sub(e.began))
	r.keep(ctx)
}

// spoken is a reply, and whether it took thought, or continued one that did.
type spoken struct {
	reply   earshot.Event
	thought bool
}

// keepSaid is how many replies are remembered: one a conversation that goes on
// beside others.
const keepSaid = maxCircles

// spoke remembers a reply, for those who ask what was said.
func (r *Room) spoke(reply earshot.Event, thought bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, spoken{reply, thought})
	r.said = slices.Delete(r.said, 0, max(0, len(r.said)-keepSaid))
}

// latest returns the last reply that everybody in a may know of, if it must have
// taken thought the last of those.
func (r *Room) latest(a earshot.Audience, thought bool) earshot.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range slices.Backward(r.said) {
		if s.reply.Visibility.Allows(a) && (s.thought || !thought) {
			return s.reply
		}
	}
	return earshot.Event{}
}

// speaking reports whether no turn can begin.
func (r *Room) speaking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live != "" || r.leaving
}

// setLive notes which turn is live, if any, and what it answers.
func (r *Room) setLive(t earshot.TurnID, with earshot.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live, r.with, r.asked = t, with, len(r.pending)
}
