package openai

import (
	"context"
	"errors"
	"slices"

	"earshot/llm"
)

// Sees implements [llm.Seer]: by the configuration, or by the server's list, which is requested
// once.
func (e *Engine) Sees(ctx context.Context, model string) bool {
	name := e.model(&llm.Request{Model: model})
	e.mu.Lock()
	sees, known := e.sees[name]
	e.mu.Unlock()
	if known {
		return sees
	}
	if e.config.Vision && name == e.config.Model {
		return true
	}
	var list modelList
	if _, err := e.fetch(ctx, "models", nil, &list); err != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sees[name] = slices.Contains(list.visionary(), name)
	return e.sees[name]
}

// shown returns req with pictures only for a model that can see.
func (e *Engine) shown(ctx context.Context, req *llm.Request) (*llm.Request, error) {
	sees := (llm.Shows(req) || req.MustSee) && e.Sees(ctx, req.Model)
	if req.MustSee && !sees {
		return req, llm.ErrNoVision
	}
	return llm.FitImages(req, sees), nil
}

// sightlessBy remembers that a model cannot see, if err says so.
func (e *Engine) sightlessBy(err error, req *llm.Request) {
	if s, ok := errors.AsType[*status](err); ok && llm.Shows(req) && s.refusesPictures() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sees[e.model(req)] = false
	}
}
