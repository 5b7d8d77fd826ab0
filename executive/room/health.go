package room

import (
	"errors"

	"earshot"
	"earshot/executive/turn"
	"earshot/llm"
)

// health returns the notice that follows from how a turn ended: the first time
// that the model fails, and the first time that it is well again.
func (r *Room) health(e ending) (earshot.Notice, bool) {
	model := r.modelOf(e.question.seat)
	r.mu.Lock()
	defer r.mu.Unlock()
	had, ill := r.faults[model]
	switch {
	case errors.Is(e.err, llm.ErrParked): // it was busy, and is well
	case e.err != nil && e.asked != nil && !errors.Is(e.err, turn.ErrUnheard):
		n := fault(e.err)
		n.Key = model
		if e.question.visibility.Scope == earshot.Private {
			n.Text = kind(e.err) // everybody is told, and what a server says may quote what it was asked
		}
		r.faults[model] = n
		return n, n.Text != had.Text
	case e.err == nil && e.asked != nil && e.reply.Offered != "" && ill:
		delete(r.faults, model)
		return earshot.Notice{Key: model, Text: "the " + model + " answers again", Over: true}, true
	}
	return earshot.Notice{}, false
}

// modelWorks reports whether an agent has a model that did not fail last time.
func (r *Room) modelWorks(s *seat) bool {
	model := r.modelOf(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ill := r.faults[model]
	return r.cfg.Model != nil && !ill
}

// modelFault is the key of what is wrong with the model.
const modelFault = "model"

// modelOf returns the key of what is wrong with the model of an agent. One that
// has the main agent's has no other.
func (r *Room) modelOf(s *seat) string {
	set := r.cfg.Settings()
	engine, model := s.thinks(set)
	if mainEngine, mainModel := r.seats[0].thinks(set); engine == mainEngine && model == mainModel {
		return modelFault
	}
	return modelFault + " of " + s.Name
}

// kind returns what went wrong, for the log and for those who may not know what
// was asked: a server may quote the prompt in its own words, so they do not get
// there.
func kind(err error) string {
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		return e.Engine + ": " + string(e.Fault)
	case errors.Is(err, turn.ErrUnheard), errors.Is(err, ErrNoModel), errors.Is(err, errMute), errors.Is(err, llm.ErrParked):
		return err.Error()
	}
	return "the model failed in another way"
}

// fault returns what is wrong with the model, for people.
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
