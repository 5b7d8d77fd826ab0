package ollama

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// modelCapabilities are a model's abilities, as the server reports them.
type modelCapabilities struct {
	tools, think, vision bool

	// opened says that the prompt ends in an opening think tag, so that the reply begins in the
	// middle of a thought.
	opened bool
}

// ability returns the model's abilities. The server is asked once; after an error with this model,
// once more, since it may have been replaced.
func (e *Engine) ability(ctx context.Context, name string) (modelCapabilities, error) {
	e.mu.Lock()
	can, known := e.capabilities[name]
	e.mu.Unlock()
	if known {
		return can, nil
	}
	shown, err := e.client.Show(ctx, &api.ShowRequest{Model: name})
	if err != nil {
		return modelCapabilities{}, err
	}
	has := func(c model.Capability) bool { return slices.Contains(shown.Capabilities, c) }
	can = modelCapabilities{
		tools:  has(model.CapabilityTools),
		think:  has(model.CapabilityThinking),
		vision: has(model.CapabilityVision),
		opened: strings.HasSuffix(strings.TrimSpace(shown.Template), "<think>"),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.capabilities[name] = can
	return can, nil
}

// Sees implements [llm.Seer] by what the server reports about the model.
func (e *Engine) Sees(ctx context.Context, model string) bool {
	name := e.model(model)
	if name == "" {
		return false
	}
	can, err := e.ability(ctx, name)
	return err == nil && can.vision
}

// forget makes the next request ask again for the model's abilities, and whether it is loaded.
func (e *Engine) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.capabilities, name)
	delete(e.answered, name)
}

// did records that the model has answered. The number of names is bounded by the models of the
// server.
func (e *Engine) did(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.capabilities[name]; known { // the server knows it, so that nobody fills this with names
		e.answered[name] = time.Now()
	}
}
