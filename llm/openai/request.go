package openai

import (
	"cmp"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"earshot/llm"
)

// defaultTokens bounds a reply that was given no bound: 1,500 words, which take
// ten minutes to say.
const defaultTokens = 2048

// model returns the name of the model that answers req.
func (e *Engine) model(req *llm.Request) string {
	if req == nil {
		return ""
	}
	return cmp.Or(req.Model, e.config.Model)
}

// params returns req as the protocol has it.
func (e *Engine) params(req *llm.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:       e.model(req),
		Messages:    messages(req.Messages),
		Temperature: openai.Float(req.Temperature),
	}
	most := openai.Int(int64(cmp.Or(req.MaxTokens, defaultTokens)))
	if official(e.base) {
		p.MaxCompletionTokens = most
	} else {
		p.MaxTokens = most
	}
	if len(req.Schema) > 0 {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "reply", Schema: req.Schema, Strict: param.NewOpt(true),
			},
		}
	}
	if !req.Whole {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	return p
}

// messages returns a prompt as the protocol has it.
func messages(in []llm.Message) (out []openai.ChatCompletionMessageParamUnion) {
	for _, m := range in {
		switch m.Role {
		case llm.System:
			out = append(out, openai.SystemMessage(m.Text))
		case llm.Assistant:
			out = append(out, openai.AssistantMessage(m.Text))
		default:
			out = append(out, openai.UserMessage(m.Text))
		}
	}
	return out
}
