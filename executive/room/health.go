package room

import (
	"context"
	"errors"
	"strings"
	"time"

	"earshot"
	"earshot/executive/turn"
	"earshot/llm"
)

// health returns the notice that follows from how a turn ended, if it is due at once: that the
// model fails, the first time. Recovery is reported by recovers.
func (r *Room) health(e turnResult) (earshot.Notice, bool) {
	model := r.modelOf(e.question.seat)
	switch {
	case errors.Is(e.err, llm.ErrParked): // it was busy, and is well
	case e.err != nil && e.modelRequest != nil && !errors.Is(e.err, turn.ErrUnheard):
		n := fault(e.err)
		n.Key = model
		if e.question.rests.Visibility.Scope == earshot.Private {
			n.Text = kind(e.err) // everybody is told, and a server's text may quote what it was asked
		}
		return n, r.faults.Change(r.cfg.Now(), n)
	case e.err == nil && e.modelRequest != nil && e.reply.Offered != "" && r.faults.Has(model):
		n := earshot.Notice{Key: model, Text: "the " + model + " answers again", Over: true}
		return n, r.faults.Change(r.cfg.Now(), n)
	}
	return earshot.Notice{}, false
}

// nextRecovery returns when something that was lost may have been back for long enough to report.
func (r *Room) nextRecovery() time.Time { return r.faults.Next() }

// announceRecoveries reports what is back. For a model that is kept, too, as its failure was.
func (r *Room) announceRecoveries(ctx context.Context) {
	for _, n := range r.faults.Steady(r.cfg.Now()) {
		if strings.HasPrefix(n.Key, modelFault) {
			r.unsaved.Add(r.event(earshot.Visibility{Scope: earshot.System}, n))
			continue
		}
		r.warn(n)
	}
	r.keep(ctx)
}

// modelWorks reports whether an agent has a model that did not fail last time.
func (r *Room) modelWorks(s *seat) bool {
	return r.cfg.Model != nil && !r.faults.Has(r.modelOf(s))
}

// modelFault is the key of faults of the model.
const modelFault = "model"

// modelOf returns the key of faults of an agent's model. An agent that uses the main agent's model
// shares its key.
func (r *Room) modelOf(s *seat) string {
	set := r.set
	engine, model := s.thinks(set)
	if mainEngine, mainModel := r.seats[0].thinks(set); engine == mainEngine && model == mainModel {
		return modelFault
	}
	return modelFault + " of " + s.Name
}

// kind returns what went wrong, for the log and for those who may not know what was asked: a server
// may quote the prompt in its own words, so those do not get there.
func kind(err error) string {
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		return e.Engine + ": " + string(e.Fault)
	case errors.Is(err, turn.ErrUnheard), errors.Is(err, ErrNoModel), errors.Is(err, errMute), errors.Is(err, llm.ErrParked):
		return err.Error()
	}
	return "the model failed in an unknown way"
}

// fault returns the notice of what is wrong with the model.
func fault(err error) earshot.Notice {
	n := earshot.Notice{Key: modelFault, Text: err.Error()}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		if e.Fault == llm.Unreachable { // how the connection failed is for the log
			brief := *e
			brief.Err = nil
			e = &brief
		}
		n.Text, n.Cure = e.Error(), e.Cure
	case errors.Is(err, ErrNoModel):
		n.Cure = "install Ollama, then run: ollama pull llama3.2"
	}
	return n
}
