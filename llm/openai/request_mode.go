package openai

import (
	"errors"
	"slices"

	"earshot/llm"
)

// A requestMode is how a model is asked. The zero value is how every model is asked first.
type requestMode struct {
	form       llm.Form
	toolless   bool // it cannot call tools by itself
	schemaless bool // it does not choose by a schema either; for one request
}

// apply returns req in the mode w, with tools as use says, and whether the reply is a choice.
func (w requestMode) apply(req *llm.Request, use llm.ToolUse) (out *llm.Request, choice bool) {
	out = req
	switch {
	case use == llm.NoTools || w.schemaless:
		out = llm.WithoutTools(req)
	case use == llm.BySchema || w.toolless:
		out, choice = llm.EmulateTools(req)
	}
	return w.form.Apply(out), choice
}

// next changes w to the mode for repeating req after err. It returns false if there is none.
func (w *requestMode) next(err error, req *llm.Request, use llm.ToolUse) bool {
	if errors.Is(err, llm.ErrNoChoice) && !w.schemaless { // its server does not enforce the schema
		w.schemaless = true
		return true
	}
	s, refused := errors.AsType[*status](err)
	if !refused || llm.Shows(req) && s.refusesPictures() {
		return false
	}
	about := s.about()
	native := !w.toolless && !w.schemaless && (use == llm.Auto || use == "") && usesTools(req)
	switch {
	case about == systemless && w.form < llm.NoSystem:
		w.form = llm.NoSystem
	case (about == order || about == template) && w.form < llm.NoSystem:
		w.form++
	case native && (about == tools || about == order || about == template): // which may not accept results of tools
		w.toolless = true
	default:
		return false
	}
	return true
}

// usesTools reports whether req offers tools, or mentions earlier calls.
func usesTools(req *llm.Request) bool {
	return len(req.Tools) > 0 || slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return len(m.Calls) > 0 })
}

// way returns how the model of req is asked first.
func (e *Engine) way(req *llm.Request) requestMode {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.modes[e.model(req)]
}

// takes remembers that the model of req accepts w. Another request may have found out more
// meanwhile.
func (e *Engine) takes(w requestMode, req *llm.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	had := e.modes[e.model(req)]
	e.modes[e.model(req)] = requestMode{form: max(w.form, had.form), toolless: w.toolless || had.toolless}
}

// Form returns the form in which a model accepted its last prompt; an empty name means the
// engine's own.
func (e *Engine) Form(model string) llm.Form { return e.way(&llm.Request{Model: model}).form }
