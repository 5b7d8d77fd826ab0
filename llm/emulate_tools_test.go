package llm_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"earshot/llm"
)

// talk returns a request with calls in it.
func talk() *llm.Request {
	return &llm.Request{
		Engine: "a", Model: "b", MaxTokens: 7, Priority: llm.ReplyToAgent,
		Messages: []llm.Message{
			{Role: llm.System, Text: "You are Bob."},
			{Role: llm.User, Text: "The list?"},
			{Role: llm.System, Text: "Be brief.\n"},
			{Role: llm.Assistant, Text: "Wait.", Calls: []llm.Call{
				{ID: "x", Tool: "note", Arguments: json.RawMessage(`{"text":"milk"}`)}, {ID: "y", Tool: "list_files"},
			}},
			{Role: llm.Result, Call: "x", Text: "kept"},
			{Role: llm.Result, Call: "y", Text: "a.txt"},
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "x", Tool: "list_files", Arguments: json.RawMessage(`{}`)}}},
			{Role: llm.Result, Call: "x", Text: "b.txt"},
			{Role: llm.Result, Call: "z", Text: "of nothing"},
		},
		Tools: []llm.Tool{
			{Name: "note", Description: "Keeps a note.", Parameters: json.RawMessage(`{"type": "object", "properties": {"text": {"type": "string"}}}`)},
			{Name: "list_files", Description: "Lists files.", Parameters: json.RawMessage(`nonsense`)},
		},
	}
}

// shown returns messages as text, a line each.
func shown(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s: %q%s\n", m.Role, m.Text, strings.Repeat(" calls", len(m.Calls)))
	}
	return b.String()
}

func TestChoosing(t *testing.T) {
	req := talk()
	got, choice := llm.EmulateTools(req)
	if !reflect.DeepEqual(req, talk()) {
		t.Error("the request was changed")
	}
	const menu = `Answer with one JSON object and nothing else: {"say": "what you say"}, ` +
		`or {"tool": "its name", "arguments": {…}}; then you are told what came of it, and answer again. The tools, with their arguments:` +
		"\n- note {\"text\"?: string}: Keeps a note." +
		"\n- list_files {\"type\":\"object\"}: Lists files."
	const dialogue = `assistant: "Wait.\n{\"tool\": \"note\", \"arguments\": {\"text\":\"milk\"}}\n{\"tool\": \"list_files\", \"arguments\": {}}"
user: "[RESULT OF note]\nkept"
user: "[RESULT OF list_files]\na.txt"
assistant: "{\"tool\": \"list_files\", \"arguments\": {}}"
user: "[RESULT OF list_files]\nb.txt"
user: "[RESULT]\nof nothing"
`
	want := `system: "You are Bob."
user: "The list?"
` + fmt.Sprintf("system: %q\n", "Be brief.\n\n"+menu) + dialogue
	if text := shown(got.Messages); text != want || !choice || got.Tools != nil {
		t.Errorf("asks (choice: %v)\n%s\nwant\n%s", choice, text, want)
	}
	const schema = `{"anyOf":[` +
		`{"type":"object","properties":{"say":{"type":"string"}},"required":["say"],"additionalProperties":false},` +
		`{"type":"object","properties":{"tool":{"const":"note"},"arguments":{"type":"object","properties":{"text":{"type":"string"}}}},"required":["tool","arguments"],"additionalProperties":false},` +
		`{"type":"object","properties":{"tool":{"const":"list_files"},"arguments":{"type":"object"}},"required":["tool","arguments"],"additionalProperties":false}]}`
	if string(got.Schema) != schema || !json.Valid(got.Schema) {
		t.Errorf("the schema is\n%s\nwant\n%s", got.Schema, schema)
	}
	if got.Engine != "a" || got.Model != "b" || got.MaxTokens != 7 || got.Priority != llm.ReplyToAgent {
		t.Errorf("asks %+v", got)
	}

	// A request without instructions gets some.
	bare, _ := llm.EmulateTools(&llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hi"}}, Tools: req.Tools})
	if text := shown(bare.Messages); text != fmt.Sprintf("system: %q\nuser: \"Hi\"\n", menu) {
		t.Errorf("asks %s", text)
	}
	// A request with a schema of its own, or without tools, gets no choice.
	own := talk()
	own.Schema = json.RawMessage(`{"type":"string"}`)
	none := talk()
	none.Tools = nil
	for _, req := range []*llm.Request{own, none} {
		got, choice := llm.EmulateTools(req)
		want := "system: \"You are Bob.\"\nuser: \"The list?\"\nsystem: \"Be brief.\\n\"\n" + dialogue
		if text := shown(got.Messages); text != want || choice || got.Tools != nil || string(got.Schema) != string(req.Schema) {
			t.Errorf("asks (choice: %v, schema %s)\n%s\nwant\n%s", choice, got.Schema, text, want)
		}
	}
}

// TestSignatures: how the arguments of a tool are described to a model that cannot call tools.
func TestSignatures(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"none", `{"type":"object","properties":{},"additionalProperties":false}`, `{}`},
		{"one that must be there", `{"type":"object","properties":{"text":{"type":"string","description":"a sentence"}},"required":["text"]}`, `{"text": a sentence}`},
		{"in their order", `{"type":"object","required":["b"],"properties":{"b":{"type":"integer"},"a":{"type":"string"}}}`, `{"b": integer, "a"?: string}`},
		{"some words", `{"type":"object","properties":{"action":{"type":"string","enum":["add","remove"],"description":"what to do"}},"required":["action"]}`, `{"action": add|remove, what to do}`},
		{"a number that means something", `{"type":"object","properties":{"n":{"type":"number","description":"from 0 to 1"}}}`, `{"n"?: number, from 0 to 1}`},
		{"a list", `{"type":"object","properties":{"to":{"type":"array","items":{"type":"string"}}}}`, `{"to"?: {"type":"array","items":{"type":"string"}}}`},
		{"an argument with bounds", `{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`, `{"n"?: {"type":"integer","minimum":1}}`},
		{"numbers to choose among", `{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]}}}`, `{"n"?: {"type":"integer","enum":[1,2]}}`},
		{"more than arguments", `{"type":"object","properties":{},"oneOf":[]}`, `{"type":"object","properties":{},"oneOf":[]}`},
		{"anything", `{"type":"object"}`, `{"type":"object"}`},
		{"nonsense", `{"type":`, `{"type":"object"}`},
		{"arguments that are no object", `{"type":"object","properties":[]}`, `{"type":"object","properties":[]}`},
	} {
		out, _ := llm.EmulateTools(&llm.Request{Tools: []llm.Tool{{Name: "act", Description: "Acts.", Parameters: json.RawMessage(tt.schema)}}})
		_, got, _ := strings.Cut(out.Messages[0].Text, "- act ")
		if got != tt.want+": Acts." {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestThoughtsLeading: thoughts are taken out only before the first word of the reply; what follows
// stays as it was written.
func TestThoughtsLeading(t *testing.T) {
	for _, tt := range []struct{ reply, text, thinking string }{
		{`<think>Hm</think>` + "\n\n" + `{"say":"<think>a</think>b <thi"}`, `{"say":"<think>a</think>b <thi"}`, "Hm"},
		{`{"say":"</think><reasoning>"}`, `{"say":"</think><reasoning>"}`, ""},
		{`<think>a</think> <think>b</think>c<think>d`, `c<think>d`, "ab"},
		{`<thi>`, `<thi>`, ""},
	} {
		for n := 1; n <= len(tt.reply); n++ {
			s := llm.Thoughts{Leading: true}
			var text, thinking string
			take := func(deltas []llm.Delta) {
				for _, d := range deltas {
					text, thinking = text+d.Text, thinking+d.Thinking
				}
			}
			for at := 0; at < len(tt.reply); at += n {
				take(s.Next(tt.reply[at:min(at+n, len(tt.reply))]))
			}
			take(s.End())
			if text != tt.text || thinking != tt.thinking {
				t.Errorf("%q, %d bytes at a time: says %q, thinks %q; want %q, %q", tt.reply, n, text, thinking, tt.text, tt.thinking)
			}
		}
	}
}
