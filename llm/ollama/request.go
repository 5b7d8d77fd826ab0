package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// errTool says that a tool has a description that Ollama does not understand.
var errTool = errors.New("the parameters of a tool are not the schema of an object")

// request converts req for Ollama. It depends only on its arguments, so that a prompt that begins
// like the last one finds the server's cache warm.
func request(name string, req *llm.Request, think bool) (*api.ChatRequest, error) {
	tools, err := toolsOf(req)
	if err != nil {
		return nil, err
	}
	c := &api.ChatRequest{
		Model:    name,
		Messages: messages(req.Messages),
		Tools:    tools,
		Stream:   new(!req.Whole),
		Format:   req.Schema,
		Think:    &api.ThinkValue{Value: think},
		Truncate: new(false),
		Shift:    new(false),
		Options: map[string]any{
			"temperature": req.Temperature,
			"num_predict": cmp.Or(max(req.MaxTokens, 0), defaultTokens),
		},
		// While a model writes a call, which may take minutes, the server sends nothing except
		// these.
		Logprobs: len(tools) > 0,
	}
	return c, nil
}

// toolsOf returns the tools in req.
func toolsOf(req *llm.Request) (out api.Tools, err error) {
	for _, t := range req.Tools {
		f := api.ToolFunction{Name: t.Name, Description: t.Description}
		if json.Unmarshal(t.Parameters, &f.Parameters) != nil || f.Parameters.Type != "object" {
			return nil, errTool
		}
		out = append(out, api.Tool{Type: "function", Function: f})
	}
	return out, nil
}

// messages converts a prompt. The result of a call names the call and the tool: templates want one
// or the other. The server would take [img-0] for the place of a picture, and refuse the whole
// prompt if there is none; so it is altered in a way that reads the same.
func messages(in []llm.Message) []api.Message {
	out := make([]api.Message, len(in))
	tools := make(map[string]string) // by the ID of the last call with that ID
	for i, m := range in {
		out[i] = api.Message{Role: string(m.Role), Content: strings.ReplaceAll(m.Text, "[img", "[\u2060img")}
		for _, image := range m.Images {
			out[i].Images = append(out[i].Images, api.ImageData(image))
		}
		for n, c := range m.Calls {
			tools[c.ID] = c.Tool
			out[i].ToolCalls = append(out[i].ToolCalls, toolCall(n, c))
		}
		if m.Role == llm.Result {
			out[i].ToolCallID, out[i].ToolName = m.Call, tools[m.Call]
		}
	}
	return out
}

// toolCall converts the n-th call of a message.
func toolCall(n int, c llm.Call) api.ToolCall {
	out := api.ToolCall{ID: c.ID, Function: api.ToolCallFunction{Index: n, Name: c.Tool}}
	if json.Unmarshal(c.Arguments, &out.Function.Arguments) != nil {
		out.Function.Arguments = api.NewToolCallFunctionArguments() // the model's arguments were not an object
	}
	return out
}
