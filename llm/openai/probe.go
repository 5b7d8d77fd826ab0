package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"earshot/llm"
)

// maxModels is how many models are listed. Gateways have some hundred.
const maxModels = 1000

// Probe implements [llm.Engine]. The protocol gives the names and ages of the models, but not
// their abilities, unless the server reports more than it must, nor the server's version.
func (e *Engine) Probe(ctx context.Context) (llm.Status, error) {
	page, err := e.models.List(ctx, option.WithMiddleware(new(guard).do))
	if err == nil && (page == nil || !page.JSON.Data.Valid()) {
		err = errNoAnswer
	}
	if err != nil {
		return llm.Status{}, e.fault(ctx, nil, err)
	}
	slices.SortStableFunc(page.Data, func(a, b openai.Model) int { return cmp.Compare(b.Created, a.Created) })
	var s llm.Status
	can := visionary([]byte(page.RawJSON()))
	for _, m := range page.Data[:min(len(page.Data), maxModels)] {
		s.Models = append(s.Models, llm.Model{Name: m.ID, Bytes: bytesOf(m), Vision: slices.Contains(can, m.ID) || e.config.Vision && m.ID == e.config.Model})
	}
	return s, nil
}

// bytesOf returns the size of a model, if the server reports it, as llama.cpp's does.
func bytesOf(m openai.Model) int64 {
	var meta struct {
		Size int64 `json:"size"`
	}
	_ = json.Unmarshal([]byte(m.JSON.ExtraFields["meta"].Raw()), &meta) // others have something else there, or nothing
	return max(meta.Size, 0)
}
