package openai

import (
	"cmp"
	"context"

	"earshot/llm"
)

// Embed implements [llm.Embedder]. The vectors of an answer may come in any
// order; what is missing is empty.
func (e *Engine) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	name := cmp.Or(model, e.config.Model)
	type vector struct {
		Index     int
		Embedding []float32
	}
	var answer struct{ Data []vector }
	_, err := e.fetch(ctx, "embeddings", map[string]any{"model": name, "input": texts, "encoding_format": "float"}, &answer)
	all := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index >= 0 && d.Index < len(all) {
			all[d.Index] = d.Embedding
		}
	}
	if err != nil {
		return nil, e.fault(ctx, llm.EmbedRequest(name, texts), err)
	}
	return all, nil
}
