package room

import (
	"context"
	"errors"
	"strings"

	"earshot"
	"earshot/executive/generation"
	"earshot/executive/seat"
	"earshot/executive/turn"
	"earshot/llm"
)

// health returns the notice that follows from how a turn ended, if it is due at once: that the
// model fails, the first time. Recovery is reported by recovers.
func (r *Room) health(e turnResult) (earshot.Notice, bool) {
	model := r.modelOf(e.Question.Seat)
	switch {
	case errors.Is(e.err, llm.ErrParked): // it was busy, and is well
	case e.err != nil && e.Generation != nil && !errors.Is(e.err, turn.ErrUnheard):
		n := generation.FaultNotice(e.err)
		n.Key = model
		if e.Question.Rests.Visibility.Scope == earshot.Private {
			n.Text = generation.FaultKind(e.err) // everybody is told, and a server's text may quote what it was asked
		}
		return n, r.notices.Faults.Change(r.cfg.Now(), n)
	case e.err == nil && e.Generation != nil && e.Reply.Offered != "" && r.notices.Faults.Has(model):
		n := earshot.Notice{Key: model, Text: "the " + model + " answers again", Over: true}
		return n, r.notices.Faults.Change(r.cfg.Now(), n)
	}
	return earshot.Notice{}, false
}

// announceRecoveries reports what is back. For a model that is kept, too, as its failure was.
func (r *Room) announceRecoveries(ctx context.Context) {
	for _, n := range r.notices.Faults.Steady(r.cfg.Now()) {
		if strings.HasPrefix(n.Key, generation.FaultKey) {
			r.records.unsaved.Add(r.event(earshot.Visibility{Scope: earshot.System}, n))
			continue
		}
		r.notices.Warn(n)
	}
	r.keep(ctx)
}

// modelWorks reports whether an agent has a model that did not fail last time.
func (r *Room) modelWorks(s *seat.Seat) bool {
	return r.cfg.Model != nil && !r.notices.Faults.Has(r.modelOf(s))
}

// modelOf returns the key of faults of an agent's model. An agent that uses the main agent's model
// shares its key.
func (r *Room) modelOf(s *seat.Seat) string {
	set := r.set
	engine, model := s.EngineAndModel(set)
	if mainEngine, mainModel := r.seats[0].EngineAndModel(set); engine == mainEngine && model == mainModel {
		return generation.FaultKey
	}
	return generation.FaultKey + " of " + s.Name
}
