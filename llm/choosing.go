package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Choosing returns req for a model that cannot call tools by itself. It offers
// none, but tells the model what they are, at the end of its last instructions,
// and asks for one object: {"say": "…"}, or {"tool": "…", "arguments": {…}}. If
// choice is true the text of the reply is that object, for a [Choice]; a request
// with a schema of its own gets no choice, nor one whose tools are only shown.
func Choosing(req *Request) (out *Request, choice bool) {
	out = WithoutTools(req)
	if len(req.Tools) == 0 || len(req.Schema) > 0 || req.Shown {
		return out, false
	}
	out.Messages = instructed(out.Messages, menu(req.Tools))
	out.Schema = choices(req.Tools)
	return out, true
}

// WithoutTools returns req for a model that is offered no tools and knows nothing
// of them. Earlier calls become words of the assistant, and what they came to
// words of the user, headed so that they can be told from theirs.
func WithoutTools(req *Request) *Request {
	out := *req
	out.Messages, out.Tools = plain(req.Messages), nil
	return &out
}

// plain returns messages without calls and results.
func plain(in []Message) []Message {
	out := slices.Clone(in)
	tools := make(map[string]string) // by the ID of the last call that had it
	for i, m := range in {
		for _, c := range m.Calls {
			tools[c.ID] = c.Tool
			out[i].Text = strings.TrimLeft(out[i].Text+"\n"+chosen(c), "\n")
		}
		out[i].Calls = nil
		if m.Role == Result {
			head := strings.TrimSuffix("RESULT OF "+tools[m.Call], " OF ")
			out[i] = Message{Role: User, Text: fmt.Sprintf("[%s]\n%s", head, m.Text), Images: m.Images}
			if m.Blind != "" {
				out[i].Blind = fmt.Sprintf("[%s]\n%s", head, m.Blind)
			}
		}
	}
	return out
}

// chosen returns a call as the model would have written it.
func chosen(c Call) string {
	arguments := c.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return fmt.Sprintf(`{"tool": %s, "arguments": %s}`, encoded(c.Tool), arguments)
}

// instructed returns messages with text at the end of their last instructions:
// what comes before them stays as it was, which a server keeps in memory.
func instructed(messages []Message, text string) []Message {
	for i, m := range slices.Backward(messages) {
		if m.Role == System {
			messages[i].Text = strings.TrimSpace(m.Text) + "\n\n" + text
			return messages
		}
	}
	return slices.Insert(messages, 0, Message{Role: System, Text: text})
}

// menu tells the model how to choose, and among what.
func menu(tools []Tool) string {
	var b strings.Builder
	b.WriteString(`Answer with one JSON object and nothing else. To talk, write {"say": "what you say"}. ` +
		`To use a tool, write {"tool": "its name", "arguments": {its arguments}}; what it came to is told to you next, and then you answer again. The tools:`)
	for _, t := range tools {
		fmt.Fprintf(&b, "\n- %s: %s Arguments: %s", t.Name, t.Description, schema(t))
	}
	return b.String()
}

// choices returns the schema of an answer: something to say, or one of the tools
// with its own arguments.
func choices(tools []Tool) json.RawMessage {
	any := []string{variant(`"say"`, `"say":{"type":"string"}`)}
	for _, t := range tools {
		any = append(any, variant(`"tool","arguments"`, fmt.Sprintf(`"tool":{"const":%s},"arguments":%s`, encoded(t.Name), schema(t))))
	}
	return json.RawMessage(`{"anyOf":[` + strings.Join(any, ",") + `]}`)
}

// variant returns the schema of an object that has these members and no others.
func variant(required, properties string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, properties, required)
}

// schema returns what t may be called with. Where that is not said it is anything.
func schema(t Tool) json.RawMessage {
	if parameters := object(t.Parameters, true); parameters != nil && len(t.Parameters) > 0 {
		return parameters
	}
	return json.RawMessage(`{"type":"object"}`)
}

// encoded returns text as JSON.
func encoded(text string) []byte {
	data, _ := json.Marshal(text) // of a string
	return data
}
