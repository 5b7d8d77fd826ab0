package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// EmulateTools returns req for a model that cannot call tools by itself. It offers none, but
// describes the tools at the end of the last instructions, and asks for one object: {"say": "…"},
// or {"tool": "…", "arguments": {…}}. If choice is true, the text of the reply is that object, for
// a [ToolChoiceReader]; a request with a schema of its own, or whose tools are only shown, gets no
// choice.
func EmulateTools(req *Request) (out *Request, choice bool) {
	out = WithoutTools(req)
	if len(req.Tools) == 0 || len(req.Schema) > 0 || req.Shown {
		return out, false
	}
	out.Messages = instructed(out.Messages, menu(req.Tools))
	out.Schema = choices(req.Tools)
	return out, true
}

// WithoutTools returns req for a model that is offered no tools and knows nothing of them. Earlier
// calls become words of the assistant, and their results words of the user, with a heading that
// tells them apart from the user's own.
func WithoutTools(req *Request) *Request {
	out := *req
	out.Messages, out.Tools = plain(req.Messages), nil
	return &out
}

// plain returns messages without calls and results.
func plain(in []Message) []Message {
	out := slices.Clone(in)
	tools := make(map[string]string) // by the ID of the last call with that ID
	for i, m := range in {
		for _, c := range m.Calls {
			tools[c.ID] = c.Tool
			out[i].Text = strings.TrimLeft(out[i].Text+"\n"+chosen(c), "\n")
		}
		out[i].Calls = nil
		if m.Role == Result {
			head := strings.TrimSuffix("RESULT OF "+tools[m.Call], " OF ")
			out[i] = Message{Role: User, Text: fmt.Sprintf("[%s]\n%s", head, m.Text), Images: m.Images}
			if m.AltText != "" {
				out[i].AltText = fmt.Sprintf("[%s]\n%s", head, m.AltText)
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

// instructed returns messages with text at the end of their last instructions: everything before
// stays unchanged, since a server caches it.
func instructed(messages []Message, text string) []Message {
	for i, m := range slices.Backward(messages) {
		if m.Role == System {
			messages[i].Text = strings.TrimSpace(m.Text) + "\n\n" + text
			return messages
		}
	}
	return slices.Insert(messages, 0, Message{Role: System, Text: text})
}

// menu tells the model how to choose, and among what. Its length costs time in every reply, so it
// describes only what a model needs to fill in the arguments; the schema enforces the rest.
func menu(tools []Tool) string {
	var b strings.Builder
	b.WriteString(`Answer with one JSON object and nothing else: {"say": "what you say"}, ` +
		`or {"tool": "its name", "arguments": {…}}; then you are told what came of it, and answer again. The tools, with their arguments:`)
	for _, t := range tools {
		fmt.Fprintf(&b, "\n- %s%s: %s", t.Name, signature(t), t.Description)
	}
	return b.String()
}

// signature returns the arguments of t in the form for a prompt, such as {"camera"?: its name}; a
// question mark marks an optional one. A schema that says more than that is given unchanged.
func signature(t Tool) string {
	whole := " " + string(schema(t))
	var is struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if !only(schema(t), &is, "type", "properties", "required", "additionalProperties") || is.Properties == nil {
		return whole
	}
	names, values, ok := members(is.Properties)
	if !ok {
		return whole
	}
	for i, name := range names {
		optional := "?"
		if slices.Contains(is.Required, name) {
			optional = ""
		}
		names[i] = fmt.Sprintf("%s%s: %s", encoded(name), optional, argument(values[i]))
	}
	return " {" + strings.Join(names, ", ") + "}"
}

// argument describes an argument: its type, unless that is text, its allowed words, and its
// meaning.
func argument(schema json.RawMessage) string {
	var is struct {
		Type        string   `json:"type"`
		Enum        []string `json:"enum"`
		Description string   `json:"description"`
	}
	if !only(schema, &is, "type", "enum", "description") || is.Type == "" {
		return string(schema)
	}
	parts := []string{is.Type, strings.Join(is.Enum, "|"), is.Description}
	if is.Type == "string" && (len(is.Enum) > 0 || is.Description != "") {
		parts[0] = ""
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// only decodes a schema into v, and returns false if that fails or if the schema has other keys.
func only(schema json.RawMessage, v any, keys ...string) bool {
	names, _, ok := members(schema)
	for _, name := range names {
		ok = ok && slices.Contains(keys, name)
	}
	return ok && json.Unmarshal(schema, v) == nil
}

// members returns the members of a JSON object, in order, and whether it is one.
func members(object json.RawMessage) (names []string, values []json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, false
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, nil, false
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	return names, values, true
}

// choices returns the schema of an answer: something to say, or one of the tools with its own
// arguments.
func choices(tools []Tool) json.RawMessage {
	any := []string{variant(`"say"`, `"say":{"type":"string"}`)}
	for _, t := range tools {
		any = append(any, variant(`"tool","arguments"`, fmt.Sprintf(`"tool":{"const":%s},"arguments":%s`, encoded(t.Name), schema(t))))
	}
	return json.RawMessage(`{"anyOf":[` + strings.Join(any, ",") + `]}`)
}

// variant returns the schema of an object with exactly these members.
func variant(required, properties string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, properties, required)
}

// schema returns the schema of the arguments of t; anything, if there is none.
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
