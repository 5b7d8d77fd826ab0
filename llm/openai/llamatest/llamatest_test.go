package llamatest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama/ollamatest"
	"earshot/llm/openai"
	"earshot/llm/openai/llamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFolder: the default folder is where the script puts it.
func TestFolder(t *testing.T) {
	out, err := testkit.Command(t, "../../../scripts/llama/build", "--where").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := llamatest.Folder(), strings.TrimSpace(string(out)); got != want {
		t.Errorf("looks for %s, but the script puts it at %s", got, want)
	}
}

// speaker is a model that knows about tides, and can call a tool.
var speaker = ollamatest.Model{
	Says: "I have nothing to say to that.", Layers: 8, Tools: true, After: "It is noted, then.",
	Routes: []ollamatest.Route{
		{Word: "tides", Says: "The tides come twice a day."},
		{Word: "keep", Says: "I will.", Calls: []llm.Call{{Tool: "note", Arguments: json.RawMessage(`{"text": "tea"}`)}}},
		{Word: "RESULT", Says: "So it is noted."},
	},
}

// engine returns an engine for the server.
func engine(t *testing.T, s *llamatest.Server, use llm.ToolUse) *openai.Engine {
	t.Helper()
	e, err := openai.New(openai.Config{Host: s.Host(), Model: "parrot", Tools: use})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// ask returns what is said and called.
func ask(t *testing.T, e llm.Service, req *llm.Request) (said string, calls []llm.Call, err error) {
	t.Helper()
	for d, failed := range e.Stream(t.Context(), req) {
		said += d.Text
		if err = failed; d.Call != nil {
			calls = append(calls, *d.Call)
		}
	}
	return said, calls, err
}

// talk returns a prompt as a room makes it.
func talk(word string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "You are Earshot."},
		{Role: llm.User, Text: "[FROM: Ann] Hello."},
		{Role: llm.User, Text: "[FROM: Bob] What of " + word + "?"},
		{Role: llm.System, Text: "Be brief."},
	}, MaxTokens: 40}
}

// These parts of templates refuse what some models' templates refuse; they are written for this
// test.
const (
	leading = `{%- for m in messages -%}
{%- if m.role == 'system' and not loop.first -%}{{- raise_exception('System message must be at the beginning.') -}}{%- endif -%}
{%- endfor -%}
{%- if not (messages | selectattr('role', 'equalto', 'user') | list) -%}{{- raise_exception('No user query found in messages.') -}}{%- endif -%}`

	alternating = `{%- set ns = namespace(turn=0) -%}
{%- for m in messages -%}
{%- if not (m.role == 'system' and loop.first) and m.role != 'tool' and not m.tool_calls -%}
{%- if (m.role == 'user') != (ns.turn % 2 == 0) -%}{{- raise_exception('After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.') -}}{%- endif -%}
{%- set ns.turn = ns.turn + 1 -%}
{%- endif -%}
{%- endfor -%}`

	systemless = `{%- if messages[0].role == 'system' -%}{{- raise_exception('System role not supported') -}}{%- endif -%}
{%- for m in messages -%}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) -%}{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') -}}{%- endif -%}
{%- endfor -%}`
)

// TestTemplates: if the template refuses a prompt, the real server gets it in another form and
// answers in the same turn; from then on it gets that form at once.
func TestTemplates(t *testing.T) {
	for _, tt := range []struct {
		name, refuses string
		form          llm.Form
	}{
		{"anything goes", "", llm.Plain},
		{"one system message, as Qwen has it", leading, llm.OneSystem},
		{"roles alternate, as Mistral has it", alternating, llm.OneSystem},
		{"no system message, as Gemma had it", systemless, llm.OneSystem}, // the server itself moves that into the first message of the user
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llamatest.Start(t, llamatest.Options{Model: speaker, Template: tt.refuses + llamatest.Render})
			e := engine(t, s, "")
			for range 2 {
				said, _, err := ask(t, e, talk("tides"))
				if said != "The tides come twice a day." || err != nil {
					t.Errorf("says %q, %v", said, err)
				}
				if form := e.Form(""); form != tt.form {
					t.Errorf("is asked with %v, want %v", form, tt.form)
				}
			}
		})
	}
}

// TestFaults: what the real server says, and which faults that makes.
func TestFaults(t *testing.T) {
	broken := llamatest.Start(t, llamatest.Options{Model: speaker, Template: `{%- if 'Earshot' in messages[0].content -%}{{- raise_exception('Unexpected message role.') -}}{%- endif -%}` + llamatest.Render})
	small := llamatest.Start(t, llamatest.Options{Model: speaker, Context: 256})
	long := talk(strings.Repeat("tides ", 200))
	for _, tt := range []struct {
		name  string
		s     *llamatest.Server
		req   *llm.Request
		fault llm.Fault
		says  string
	}{
		{"a template that takes nothing", broken, talk("tides"), llm.Template, "400 Bad Request: Jinja Exception: Unexpected message role."},
		{"too long", small, long, llm.TooLong, "400 Bad Request: request ("},
	} {
		_, _, err := ask(t, engine(t, tt.s, ""), tt.req)
		if fault, ok := err.(*llm.Error); !ok || fault.Fault != tt.fault || fault.Cure == "" || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %s: %s", tt.name, err, tt.fault, tt.says)
		}
	}
}

// TestTemplatesOfOthers: the chat templates that come with the server, if they refuse anything,
// take prompts as rooms make them, with and without tools that were used. What the model says has
// no meaning.
func TestTemplatesOfOthers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(llamatest.Folder(), "templates", "*.jinja"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		template, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(template), "raise_exception") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			quick := speaker
			quick.Layers = 1
			s := llamatest.Start(t, llamatest.Options{Model: quick, Template: string(template)})
			e := engine(t, s, "")
			for _, req := range []*llm.Request{talk("tides"), worked()} {
				req.MaxTokens = 1
				_, _, err := ask(t, e, req)
				if fault, ok := err.(*llm.Error); ok && fault.Fault != llm.Broken { // the model does not write in the template's format
					t.Errorf("with %d tools: %v", len(req.Tools), err)
				}
			}
		})
	}
}

// hermes renders tools and calls as many models have them.
const hermes = `{%- if tools -%}<|system|>{%- for tool in tools -%}{{ tool | tojson }}{%- endfor -%}<|end|><|end|><|end|><|end|>{%- endif -%}
{%- for m in messages -%}
{%- if m.role != 'system' -%}<|{{ m.role }}|>{{ m.content }}{%- for c in m.tool_calls or [] -%}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>{%- endfor -%}<|end|><|end|><|end|><|end|>{%- endif -%}
{%- endfor -%}{%- if add_generation_prompt -%}` + llamatest.Speak + `{%- endif -%}`

// TestTools: a model with a strict template calls a tool, and then answers from its result.
func TestTools(t *testing.T) {
	s := llamatest.Start(t, llamatest.Options{Model: speaker, Template: alternating + hermes})
	e := engine(t, s, "")
	req := talk("tea? Please keep it")
	req.Tools = worked().Tools
	said, calls, err := ask(t, e, req)
	if said != "I will." || len(calls) != 1 || calls[0].Tool != "note" || string(calls[0].Arguments) != `{"text":"tea"}` || err != nil {
		t.Fatalf("says %q, calls %+v, %v", said, calls, err)
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: said, Calls: calls}, llm.Message{Role: llm.Result, Call: calls[0].ID, Text: "Done."})
	if said, _, err := ask(t, e, req); said != "It is noted, then." || err != nil {
		t.Errorf("says %q, %v", said, err)
	}
	if form := e.Form(""); form != llm.OneSystem {
		t.Errorf("is asked with %v", form)
	}
}

// worked returns a prompt that goes on after two tools were called at once.
func worked() *llm.Request {
	req := talk("tides")
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
	req.Tools = []llm.Tool{{Name: "note", Description: "Keep a fact.", Parameters: schema}, {Name: "recall", Description: "Search.", Parameters: schema}}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Text: "I will look.", Calls: []llm.Call{
			{ID: "9f8e7d6c5b4a39281706f5e4d3c2b1a0", Tool: "note", Arguments: json.RawMessage(`{"text":"tea"}`)},
			{ID: "call_2", Tool: "recall", Arguments: json.RawMessage(`{"text":"tea"}`)},
		}},
		llm.Message{Role: llm.Result, Call: "9f8e7d6c5b4a39281706f5e4d3c2b1a0", Text: "Data: it is noted."},
		llm.Message{Role: llm.Result, Call: "call_2", Text: "Data: nothing was found."},
		llm.Message{Role: llm.System, Text: "You have used the tools enough."})
	return req
}
