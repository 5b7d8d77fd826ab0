package ollama

import (
	"context"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// Embed implements [llm.Embedder]. What is longer than the model reads is cut by the server.
func (e *Engine) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	name := e.model(model)
	answer, err := e.client.Embed(ctx, &api.EmbedRequest{Model: name, Input: texts, Truncate: new(true)})
	if err == nil {
		return answer.Embeddings, nil
	}
	return nil, unquoted(e.fault(name, err), llm.EmbedRequest(name, texts))
}
