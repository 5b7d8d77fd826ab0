package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// call returns a call of a tool.
func call(tool, arguments string) llm.Call {
	return llm.Call{Tool: tool, Arguments: json.RawMessage(arguments)}
}

// caller is a model that calls tools.
var caller = ollamatest.Model{
	Says: usual, After: "That is what came of it.", Tools: true, Thinks: true,
	Routes: []ollamatest.Route{
		{Word: "name", Says: short},
		{Word: "milk", Calls: []llm.Call{call("note", `{"text":"buy <milk> & 潮\n","n":12345678901234567890}`)}},
		{Word: "file", Says: "I write it down. ", Calls: []llm.Call{call("write_file", `{"path":"a.txt","text":"tides"}`), call("list_files", `{}`)}},
		{Word: "ponder", Says: "<think>Perhaps a note.</think>", Calls: []llm.Call{call("note", `{"text":"hm"}`)}},
		{Word: "kept", Says: "It is kept now."},
		{Word: "prose", Says: `I would write <tool_cal or {"name": "note", "arguments": {}} here.`},
		{Word: "story", Says: story, Calls: []llm.Call{call("note", `{"text":"the end"}`)}},
		{Word: "essay", Calls: []llm.Call{call("note", fmt.Sprintf(`{"text":%q}`, story))}},
		{Word: "half", Says: `<tool_call>{"name": "note", "arguments": {"text": `},
	},
}

// tools are the tools that the caller may call.
var tools = []llm.Tool{
	{Name: "note", Description: "Keeps a note.", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
	{Name: "write_file", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}}}`)},
	{Name: "list_files", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
}

// with returns a question that offers the tools.
func with(text string) *llm.Request {
	req := say(text)
	req.Model, req.Tools = "caller", tools
	return req
}

// then adds a reply and the results of its calls.
func then(req *llm.Request, r result, results ...string) *llm.Request {
	next := *req
	next.Messages = append(next.Messages[:len(next.Messages):len(next.Messages)], llm.Message{Role: llm.Assistant, Text: r.text, Calls: r.calls})
	for i, text := range results {
		next.Messages = append(next.Messages, llm.Message{Role: llm.Result, Call: r.calls[i].ID, Text: text})
	}
	return &next
}

// called returns the calls of a reply, with sorted arguments, since the server shuffles them.
func called(r result) string {
	var all []string
	for _, c := range r.calls {
		var arguments map[string]json.RawMessage
		json.Unmarshal(c.Arguments, &arguments)
		sorted, _ := json.Marshal(arguments)
		all = append(all, fmt.Sprintf("%s(%s)", c.Tool, sorted))
	}
	return strings.Join(all, " ")
}

func TestRealTools(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	create(t, s, "caller", caller)
	ctx := t.Context()

	t.Run("Calls", func(t *testing.T) {
		for _, tt := range []struct{ word, says, calls string }{
			{"name", short, ""},
			{"milk", "", `note({"n":12345678901234567000,"text":"buy \u003cmilk\u003e \u0026 潮\n"})`}, // the server keeps numbers as floats
			{"file", "I write it down. ", `write_file({"path":"a.txt","text":"tides"}) list_files({})`},
			{"ponder", "", `note({"text":"hm"})`},
			{"prose", `I would write <tool_cal or {"name": "note", "arguments": {}} here.`, ""},
			{"half", "", ""}, // the server drops half a call, which is neither call nor text
		} {
			for _, whole := range []bool{true, false} {
				req := with(tt.word)
				req.Whole, req.Think = whole, tt.word == "ponder"
				r := collect(t, e, ctx, req)
				told(t, r, tt.says)
				if got := called(r); got != tt.calls {
					t.Errorf("%s: calls\n%s\nwant\n%s", tt.word, got, tt.calls)
				}
			}
		}
	})

	t.Run("RoundTrip", func(t *testing.T) {
		req := with("milk")
		r := collect(t, e, ctx, req)
		req = then(req, r, "note 1 is kept")
		r = collect(t, e, ctx, req)
		told(t, r, "It is kept now.")
		if r = collect(t, e, ctx, then(req, r)); called(r) != "" {
			t.Errorf("calls %s", called(r))
		}
		req = with("file")
		told(t, collect(t, e, ctx, then(req, collect(t, e, ctx, req), "done", "nothing there")), "That is what came of it.")
		// A later message of the user decides again, not what came before it.
		req = then(with("milk"), result{calls: []llm.Call{{ID: "call_1", Tool: "note"}}}, "kept")
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: "good morning"})
		told(t, collect(t, e, ctx, req), usual)
	})

	// While a long call is being written only signs of life come.
	t.Run("Signs", func(t *testing.T) {
		r := collect(t, e, ctx, with("essay"))
		if len(r.calls) != 1 || len(r.calls[0].Arguments) < len(story) || r.text != "" || r.deltas < 100 {
			t.Errorf("says %q, %d calls, in %d pieces, %v", r.text, len(r.calls), r.deltas, r.err)
		}
	})

	t.Run("WithoutOffer", func(t *testing.T) {
		req := with("milk")
		req.Tools = nil
		if r := collect(t, e, ctx, req); len(r.calls) > 0 || !strings.HasPrefix(r.text, "<tool_call>") || r.err != nil {
			t.Errorf("says %q, calls %s, %v: a tag in the text is text", r.text, called(r), r.err)
		}
	})

	t.Run("Cut", func(t *testing.T) {
		because := errors.New("somebody spoke")
		for range 4 {
			ctx, stop := context.WithTimeoutCause(ctx, whole, errNoEnd)
			defer stop()
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			var last error
			n := 0
			for d, err := range e.Stream(ctx, with("story")) {
				if last = err; d.Call != nil {
					t.Error("a call of a reply that was cut")
				}
				if n++; n == 8 {
					cancel(because)
				}
			}
			if last != because {
				t.Errorf("ended with %v", last)
			}
			told(t, collect(t, patiently(t, e), t.Context(), with("name")), short)
		}
	})

	t.Run("Probe", func(t *testing.T) {
		status, err := e.Probe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range status.Models {
			if m.Tools != (m.Name == "caller:latest") {
				t.Errorf("%s can call tools: %v", m.Name, m.Tools)
			}
		}
	})
}

// TestRealChoice: a model without tools answers by a schema, and is told what it may choose.
func TestRealChoice(t *testing.T) {
	s, e := serve(t, ollamatest.Options{})
	create(t, s, "caller", ollamatest.Model{
		Says: usual, After: "That is what came of it.", Chooses: true, Layers: 8,
		Routes: []ollamatest.Route{
			{Word: "name", Says: "I am <a> \"model\"\n\tthat somebody made: 🦜."},
			{Word: "milk", Calls: []llm.Call{call("note", `{"text":"buy milk"}`)}},
			{Word: "story", Says: story},
		},
	})
	ctx := t.Context()
	for _, tt := range []struct{ word, says, calls string }{
		{"morning", usual, ""},
		{"name", "I am <a> \"model\"\n\tthat somebody made: 🦜.", ""},
		{"milk", "", `note({"text":"buy milk"})`},
		{"story", story, ""},
	} {
		for _, whole := range []bool{true, false} {
			req := with(tt.word)
			req.Whole = whole
			r := collect(t, e, ctx, req)
			told(t, r, tt.says)
			if got := called(r); got != tt.calls {
				t.Errorf("%s: calls %s, want %s", tt.word, got, tt.calls)
			}
			if tt.word == "story" && !whole && r.deltas < 100 {
				t.Errorf("came in %d pieces: that is no stream", r.deltas)
			}
		}
	}
	req := with("story")
	req.MaxTokens = 12
	if r := collect(t, e, ctx, req); r.err != nil || !r.done.Truncated || r.text == "" || !strings.HasPrefix(story, r.text) {
		t.Errorf("truncated: %q, %+v, %v", r.text, r.done, r.err)
	}
	req = with("milk")
	req.Messages[0].Text = "say nothing of tools"
	told(t, collect(t, e, ctx, then(req, result{calls: []llm.Call{{ID: "x", Tool: "note"}}}, "your name")), "I am <a> \"model\"\n\tthat somebody made: 🦜.")

	// A model that wants to say something else is held to the schema.
	create(t, s, "caller", ollamatest.Model{Says: "Good morning to you.", Layers: 1})
	req = with("morning")
	req.MaxTokens = 40
	if r := collect(t, e, ctx, req); fault(r.err) != "" && fault(r.err) != llm.BadAnswer {
		t.Errorf("says %q, calls %s, %v", r.text, called(r), r.err)
	}
	// This model could call tools when it was first asked, and then no longer can.
	create(t, s, "caller", caller)
	e = open(t, ollama.Config{Host: s.Host(), Model: "caller"})
	if r := collect(t, e, ctx, with("milk")); called(r) != `note({"n":12345678901234567000,"text":"buy \u003cmilk\u003e \u0026 潮\n"})` {
		t.Errorf("calls %s, %v", called(r), r.err)
	}
	create(t, s, "caller", ollamatest.Model{Says: usual, Chooses: true, Layers: 1})
	told(t, collect(t, e, ctx, with("milk")), usual)
}
