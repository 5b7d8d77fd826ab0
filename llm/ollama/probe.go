package ollama

import (
	"context"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"earshot/llm"
)

// asked is for how many models, the newest, Probe reports abilities. Each costs the server a look
// into a file.
const asked = 12

// Probe implements [llm.Engine].
func (e *Engine) Probe(ctx context.Context) (llm.Status, error) {
	version, err := e.client.Version(ctx)
	if err != nil {
		return llm.Status{}, e.ended(ctx, "", err)
	}
	list, err := e.client.List(ctx)
	if err != nil {
		return llm.Status{}, e.ended(ctx, "", err)
	}
	if version = sentence(version); version == "" {
		return llm.Status{}, e.fault("", errNoReply)
	}
	return llm.Status{Version: version, Models: e.models(ctx, list.Models)}, nil
}

// models describes the server's models, the newest first. A name that cannot be printed cannot be
// chosen either, and is left out.
func (e *Engine) models(ctx context.Context, list []api.ListModelResponse) []llm.Model {
	slices.SortStableFunc(list, func(a, b api.ListModelResponse) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	var models []llm.Model
	for _, l := range list {
		if l.Name == "" || sentence(l.Name) != l.Name {
			continue
		}
		m := llm.Model{Name: l.Name, Bytes: max(l.Size, 0)}
		if len(models) < asked {
			can, _ := e.ability(ctx, l.Name) // unknown counts as none
			m.Tools, m.Thinking, m.Vision = can.tools, can.think, can.vision
		}
		models = append(models, m)
	}
	return models
}

// lately is how long after an answer a model counts as loaded, without asking: Ollama's default is
// to keep it for five minutes.
const lately = time.Minute

// Loads implements [llm.Loader] by the list of loaded models. The list also has the models that
// are being loaded, so Loads must be called before the model is used.
func (e *Engine) Loads(ctx context.Context, asked string) bool {
	name := e.model(asked)
	e.mu.Lock()
	last := e.answered[name]
	e.mu.Unlock()
	if name == "" || time.Since(last) < lately {
		return false
	}
	running, err := e.client.ListRunning(ctx)
	if err != nil || running.Models == nil { // another kind of server, which does not report this
		return false
	}
	is := model.ParseName(name)
	return !slices.ContainsFunc(running.Models, func(m api.ProcessModelResponse) bool { return m.Name == name || model.ParseName(m.Name).EqualFold(is) })
}

// Unload implements [llm.Unloader]. It works on a wedged model, since the server ends the process
// that holds it.
func (e *Engine) Unload(ctx context.Context, model string) error {
	name := e.model(model)
	if name == "" {
		return e.fault("", errNameless)
	}
	e.forget(name)
	err := e.ask(ctx, &api.ChatRequest{
		Model:     name,
		Stream:    new(false),
		KeepAlive: &api.Duration{},
	}, &llm.ReplyReader{Give: func(llm.Delta) error { return nil }})
	if err != nil {
		return e.ended(ctx, name, err)
	}
	return nil
}

// ended returns err as a fault, or the cause of ctx if that is the reason.
func (e *Engine) ended(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return e.fault(name, err)
}
