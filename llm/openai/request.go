package openai

import (
	"cmp"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"earshot/llm"
)

// defaultTokens bounds a reply without a bound of its own: 1,500 words, which take ten minutes to
// say.
const defaultTokens = 2048

// model returns the name of the model that answers req.
func (e *Engine) model(req *llm.Request) string {
	if req == nil {
		return ""
	}
	return cmp.Or(req.Model, e.config.Model)
}

// params converts req for the protocol.
func (e *Engine) params(req *llm.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:       e.model(req),
		Messages:    messages(req.Messages),
		Temperature: openai.Float(req.Temperature),
	}
	most := openai.Int(int64(cmp.Or(req.MaxTokens, defaultTokens)))
	if e.base.Hostname() == "api.openai.com" { // OpenAI's own has renamed a parameter that the others still use
		p.MaxCompletionTokens = most
	} else {
		p.MaxTokens = most
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: parameters(t)}
		if t.Description != "" {
			f.Description = openai.String(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
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

// parameters returns the schema of the arguments of t. An invalid one is sent as that of an empty
// object.
func parameters(t llm.Tool) shared.FunctionParameters {
	var p shared.FunctionParameters
	if json.Unmarshal(t.Parameters, &p) != nil || p == nil {
		p = shared.FunctionParameters{"type": "object", "properties": map[string]any{}}
	}
	return p
}

// messages converts a prompt for the protocol, in which only a message of the user can show
// pictures. Pictures in the result of a call follow the results of all calls beside it.
func messages(in []llm.Message) (out []openai.ChatCompletionMessageParamUnion) {
	var shown []llm.Image
	for i, m := range in {
		switch m.Role {
		case llm.System:
			out = append(out, openai.SystemMessage(m.Text))
		case llm.Assistant:
			said := openai.AssistantMessage(m.Text)
			if len(m.Calls) > 0 {
				said.OfAssistant.ToolCalls = toolCalls(m.Calls)
			}
			if len(m.Calls) > 0 && m.Text == "" {
				said.OfAssistant.Content = openai.ChatCompletionAssistantMessageParamContentUnion{}
			}
			out = append(out, said)
		case llm.Result:
			out = append(out, openai.ToolMessage(m.Text, m.Call))
			shown = append(shown, m.Images...)
			if last := i+1 == len(in) || in[i+1].Role != llm.Result; last && len(shown) > 0 {
				out, shown = append(out, parts("", shown)), nil
			}
		default:
			if len(m.Images) > 0 {
				out = append(out, parts(m.Text, m.Images))
				break
			}
			out = append(out, openai.UserMessage(m.Text))
		}
	}
	return out
}

// toolCalls returns the assistant's calls. Servers parse the arguments again, so those that were
// not an object are sent as an empty one.
func toolCalls(calls []llm.Call) (out []openai.ChatCompletionMessageToolCallUnionParam) {
	for _, c := range calls {
		f := openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Tool, Arguments: cmp.Or(string(c.Arguments), "{}")}
		out = append(out, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID, Function: f},
		})
	}
	return out
}
