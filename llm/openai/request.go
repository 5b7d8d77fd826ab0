package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"

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

// A chatRequest is a request for a reply in the protocol. A temperature of 0 and empty texts are
// sent, since a server may have other defaults.
type chatRequest struct {
	Model               string           `json:"model,omitempty"`
	Messages            []message        `json:"messages,omitempty"`
	Temperature         float64          `json:"temperature"`
	MaxTokens           int              `json:"max_tokens,omitempty"`
	MaxCompletionTokens int              `json:"max_completion_tokens,omitempty"`
	Tools               []map[string]any `json:"tools,omitempty"`
	ResponseFormat      map[string]any   `json:"response_format,omitempty"`
	Stream              bool             `json:"stream,omitempty"`
	StreamOptions       map[string]any   `json:"stream_options,omitempty"`
}

// A message is one message of a prompt in the protocol.
type message struct {
	Role       llm.Role         `json:"role"`
	Content    any              `json:"content,omitempty"` // a text, or a list of texts and pictures
	ToolCalls  []map[string]any `json:"tool_calls,omitempty"`
	ToolCallID *string          `json:"tool_call_id,omitempty"`
}

// params converts req for the protocol.
func (e *Engine) params(req *llm.Request) *chatRequest {
	p := &chatRequest{Model: e.model(req), Messages: messages(req.Messages), Temperature: req.Temperature}
	most := cmp.Or(req.MaxTokens, defaultTokens)
	if e.base.Hostname() == "api.openai.com" { // OpenAI's own has renamed a parameter that the others still use
		p.MaxCompletionTokens = most
	} else {
		p.MaxTokens = most
	}
	for _, t := range req.Tools {
		f := map[string]any{"name": t.Name, "parameters": parameters(t)}
		if t.Description != "" {
			f["description"] = t.Description
		}
		p.Tools = append(p.Tools, map[string]any{"type": "function", "function": f})
	}
	if len(req.Schema) > 0 {
		schema := map[string]any{"name": "reply", "schema": req.Schema, "strict": true}
		p.ResponseFormat = map[string]any{"type": "json_schema", "json_schema": schema}
	}
	if !req.Whole {
		p.Stream, p.StreamOptions = true, map[string]any{"include_usage": true}
	}
	return p
}

// parameters returns the schema of the arguments of t. An invalid one is sent as that of an empty
// object.
func parameters(t llm.Tool) (p map[string]any) {
	if json.Unmarshal(t.Parameters, &p) != nil || p == nil {
		p = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	return p
}

// messages converts a prompt for the protocol, in which only a message of the user can show
// pictures. Pictures in the result of a call follow the results of all calls beside it.
func messages(in []llm.Message) (out []message) {
	var shown []llm.Image
	for i, m := range in {
		said := message{Role: m.Role, Content: m.Text}
		switch m.Role {
		case llm.System:
		case llm.Assistant:
			if said.ToolCalls = toolCalls(m.Calls); len(m.Calls) > 0 && m.Text == "" {
				said.Content = nil
			}
		case llm.Result:
			said.ToolCallID = &m.Call
			shown = append(shown, m.Images...)
		default:
			said.Role = llm.User
			if len(m.Images) > 0 {
				said.Content = parts(m.Text, m.Images)
			}
		}
		out = append(out, said)
		if last := i+1 == len(in) || in[i+1].Role != llm.Result; last && len(shown) > 0 {
			out, shown = append(out, message{Role: llm.User, Content: parts("", shown)}), nil
		}
	}
	return out
}

// toolCalls returns the assistant's calls. Servers parse the arguments again, so those that were
// not an object are sent as an empty one.
func toolCalls(calls []llm.Call) (out []map[string]any) {
	for _, c := range calls {
		f := map[string]any{"name": c.Tool, "arguments": cmp.Or(string(c.Arguments), "{}")}
		out = append(out, map[string]any{"type": "function", "id": c.ID, "function": f})
	}
	return out
}

// parts returns the content of a message that shows pictures.
func parts(text string, images []llm.Image) (parts []map[string]any) {
	if text != "" {
		parts = append(parts, map[string]any{"type": "text", "text": text})
	}
	for _, image := range images {
		url := "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(image)
		parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}})
	}
	return parts
}
