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

// maxModels is how many models are told. Gateways list some hundred.
const maxModels = 1000

// Probe implements [llm.Engine]. The protocol tells the names of the models
// and how old they are, but not what they can do, unless the server says more than it
// has to, nor the server's version.
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

// bytesOf returns how large a model is, where the server says so, as llama.cpp's does.
func bytesOf(m openai.Model) int64 {
	var meta struct {
		Size int64 `json:"size"`
	}
	_ = json.Unmarshal([]byte(m.JSON.ExtraFields["meta"].Raw()), &meta) // others have something else there, or nothing
	return max(meta.Size, 0)
}
