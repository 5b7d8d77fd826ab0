package llmtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// script is a model for two agents that can call tools.
const script = `
reply: No line.
rules:
  - result: again
    calls: [{tool: note, arguments: {text: more}}]
  - result: ""
    when: list
    reply: It is written.
  - when: list
    agent: Bob
    reply: I write.
    calls:
      - {tool: note, arguments: {text: milk}}
      - {tool: write_file}
      - {tool: note}
  - when: list
    reply: Bob, please.
  - when: turn
    replies:
      - {reply: Yours.}
      - {calls: [{tool: fly}, {tool: note}]}
      - {reply: Mine., thinking: Hm.}
`

// asking returns a question to the agent of that name, who has the tool note.
func asking(name, text string) *llm.Request {
	return &llm.Request{
		Tools: []llm.Tool{{Name: "note"}},
		Messages: []llm.Message{
			{Role: llm.System, Text: "You are " + name + ". You know the moon."},
			{Role: llm.User, Text: text},
		},
	}
}

// after adds a call and its result.
func after(req *llm.Request, result string) *llm.Request {
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_1", Tool: "note", Arguments: json.RawMessage("{}")}}},
		llm.Message{Role: llm.Result, Call: "call_1", Text: result})
	return req
}

// calls returns what s says and calls.
func calls(t *testing.T, s llm.Service, req *llm.Request) string {
	t.Helper()
	var said string
	var all []string
	for d, err := range s.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		said += d.Text
		if d.Call != nil {
			all = append(all, fmt.Sprintf("%s %s(%s)", d.Call.ID, d.Call.Tool, d.Call.Arguments))
		}
	}
	return strings.TrimSpace(said + " " + strings.Join(all, " "))
}

func TestScriptCalls(t *testing.T) {
	s, err := llmtest.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	none := asking("Bob", "the list")
	none.Tools = nil
	cut := asking("Bob", "the list")
	cut.MaxTokens = 8
	for _, tt := range []struct {
		name string
		req  *llm.Request
		want string
	}{
		{"says, then calls, and says what it cannot call", asking("Bob", "the list"),
			`I write. I have no tool write_file. call_1 note({"text":"milk"}) call_2 note({})`},
		{"without tools", none, "I write. I have no tool note. I have no tool write_file. I have no tool note."},
		{"cut between the calls", cut, `I write. I have no tool write_file. call_1 note({"text":"milk"})`},
		{"another agent", asking("Ann", "the list"), "Bob, please."},
		{"an agent whose name begins so", asking("Bobby", "the list"), "Bob, please."},
		{"after the call", after(asking("Bob", "the list"), "kept"), "It is written."},
		{"after the call, to another question", after(asking("Bob", "moon"), "kept"), "No line."},
		{"calls again", after(asking("Bob", "the list"), "Try AGAIN."), `call_1 note({"text":"more"})`},
		{"the result was before", add(after(asking("Bob", "moon"), "again"), "turn"), "Yours."},
		{"one after the other", asking("Bob", "turn"), "I have no tool fly. call_1 note({})"},
		{"one after the other for everybody", asking("Ann", "turn"), "Mine."},
		{"and from the first again", asking("Ann", "turn"), "Yours."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := calls(t, s, tt.req); got != tt.want {
				t.Errorf("says\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestScriptChooses: a script without tools gives the same replies and calls, except for the second
// of two calls. It is asked as such a model is, and answers as one does.
func TestScriptChooses(t *testing.T) {
	s, err := llmtest.Parse([]byte("tools: false" + script))
	if err != nil {
		t.Fatal(err)
	}
	if status, err := s.Probe(t.Context()); err != nil || status.Models[0].Tools {
		t.Errorf("probed %+v, %v", status, err)
	}
	for _, tt := range []struct {
		name string
		req  *llm.Request
		want string
	}{
		{"says and calls", asking("Bob", "the list"), `I write. I have no tool write_file. call_1 note({"text":"milk"})`},
		{"says", asking("Ann", "the list"), "Bob, please."},
		{"after the call", after(asking("Bob", "the list"), "kept"), "It is written."},
		{"calls again", after(asking("Bob", "the list"), "again"), `call_1 note({"text":"more"})`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := calls(t, s, tt.req); got != tt.want {
				t.Errorf("says\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	seen := s.Seen()
	last := seen[len(seen)-1]
	if len(last.Tools) > 0 || last.Schema == nil || !strings.Contains(last.Messages[0].Text, `{"tool": "its name"`) || last.Messages[3].Text != "[RESULT OF note]\nagain" {
		t.Errorf("was asked %+v", last)
	}
	cut := asking("Ann", "the list")
	cut.MaxTokens = 1
	var said []string
	for d := range s.Stream(t.Context(), cut) {
		said = append(said, fmt.Sprint(d.Text, d.Done != nil && d.Done.Truncated))
	}
	if got := strings.Join(said, " "); got != "Bob,false true" {
		t.Errorf("truncated it says %s", got)
	}
}

// add adds a message of the user.
func add(req *llm.Request, text string) *llm.Request {
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: text})
	return req
}
