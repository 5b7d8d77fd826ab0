package ollama_test

import (
	"net/http"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama"
)

// reply returns a line of a reply that says text.
func reply(text string) string {
	return strings.Replace(hello, `"Hello"`, `"`+strings.ReplaceAll(text, `"`, `\"`)+`"`, 1)
}

func TestToolCalls(t *testing.T) {
	for _, tt := range []struct{ name, body, says, calls string }{
		{"one", noted + "\n" + end, "", `note({"text":"milk"})`},
		{"with the end", strings.Replace(noted, `"done":false`, `"done":true`, 1), "", `note({"text":"milk"})`},
		{"behind a text, and half a tag", hello + reply(" <thi") + noted + "\n" + end, "Hello <thi", `note({"text":"milk"})`},
		{"before a text", noted + "\n" + hello + noted + "\n" + end, "Hello", `note({"text":"milk"}) note({"text":"milk"})`},
		{"what there is not", strings.Replace(noted, `"note"`, `"fly"`, 1) + "\n" + end, "", `fly({"text":"milk"})`},
		{"arguments that are none", strings.Replace(noted, `{"text":"milk"}`, `["milk"]`, 1) + "\n" + end, "", `note(null)`},
		{"no arguments", strings.Replace(noted, `,"arguments":{"text":"milk"}`, ``, 1) + "\n" + end, "", `note({})`},
		{"a tag in the text", reply(`<tool_call>{"name":"note","arguments":{}}</tool_call>`) + end, `<tool_call>{"name":"note","arguments":{}}</tool_call>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{shows: shows("completion tools", ""), chat: writes(200, tt.body)}
			got := collect(t, recorded(t, r, ollama.Config{}), t.Context(), &llm.Request{Messages: say("hi").Messages, Tools: tools})
			told(t, got, tt.says)
			if called(got) != tt.calls {
				t.Errorf("calls %s, want %s", called(got), tt.calls)
			}
			for i, c := range got.calls {
				if c.ID == "" || i > 0 && c.ID == got.calls[0].ID {
					t.Errorf("call %d has the ID %q", i, c.ID)
				}
			}
		})
	}
}

// TestToolUse: a model that cannot call tools chooses by a schema. So does one that no longer can,
// unless it is configured to call them natively.
func TestToolUse(t *testing.T) {
	const refusal = `{"error":"registry.ollama.ai/library/m:latest does not support tools"}`
	for _, tt := range []struct {
		name, can  string
		use        llm.ToolUse
		asked      string // in which ways: with tools, by a schema, or plain
		says, call string
		fault      llm.Fault
	}{
		{"it can", "completion tools", "", "tools", "by itself", "", ""},
		{"it cannot", "completion", llm.Auto, "schema", "", `note({})`, ""},
		{"it could once", "completion tools", llm.Auto, "tools schema", "", `note({})`, ""},
		{"it could once, and must", "completion tools", llm.Native, "tools", "", "", llm.Unsupported},
		{"it cannot, and must", "completion", llm.Native, "tools", "by itself", "", ""},
		{"it can, and is not let", "completion tools", llm.BySchema, "schema", "", `note({})`, ""},
		{"it can, and may not", "completion tools", llm.NoTools, "plain", "by itself", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{shows: shows(tt.can, "")}
			r.chat = func(w http.ResponseWriter, in *http.Request) {
				asked := r.asked[len(r.asked)-1]
				switch {
				case strings.Contains(asked, `"format":`):
					writes(200, reply(`{"tool":`)+reply(`"note"}`)+end)(w, in)
				case strings.Contains(tt.name, "it could once"):
					writes(400, refusal)(w, in)
				default:
					writes(200, reply("by itself")+end)(w, in)
				}
			}
			got := collect(t, recorded(t, r, ollama.Config{Tools: tt.use}), t.Context(), &llm.Request{Messages: say("hi").Messages, Tools: tools})
			if got.text != tt.says || called(got) != tt.call || fault(got.err) != tt.fault {
				t.Errorf("says %q, calls %s, %v", got.text, called(got), got.err)
			}
			var how []string
			for _, a := range r.take()[1:] {
				kind := "plain"
				if strings.Contains(a, `"tools":`) {
					kind = "tools"
				}
				if strings.Contains(a, `"format":`) {
					kind = "schema"
				}
				how = append(how, kind)
			}
			if strings.Join(how, " ") != tt.asked {
				t.Errorf("asked with %q, want %s", how, tt.asked)
			}
		})
	}
}

// TestBrokenChoice: if a model without tools writes something else than a choice, that is a fault,
// and what it had said until then stays said.
func TestBrokenChoice(t *testing.T) {
	for _, tt := range []struct {
		name, body, says string
		fault            llm.Fault
	}{
		{"prose, which is asked for then", hello + end, "Hello", ""},
		{"nothing, which is asked for then", end, "", ""},
		{"another object", reply(`{"talk":"secret"}`) + end, "", llm.BadAnswer},
		{"half of it", reply(`{"say":"secre`) + end, "secre", llm.BadAnswer},
		{"more than it", reply(`{"say":"Hi"} secret`) + end, "Hi", llm.BadAnswer},
		{"cut off", reply(`{"say":"Hi`), "Hi", llm.Broken},
		{"truncated", reply(`{"say":"Hi`) + strings.Replace(end, "stop", "length", 1), "Hi", ""},
		{"thoughts before it", reply(`<think>Hm</think> {"say":"<think>x</think>Hi"}`) + end, "Hi", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{shows: shows("completion", ""), chat: writes(200, tt.body)}
			got := collect(t, recorded(t, r, ollama.Config{}), t.Context(), &llm.Request{Messages: say("hi").Messages, Tools: tools})
			if got.text != tt.says || fault(got.err) != tt.fault {
				t.Errorf("says %q, %v", got.text, got.err)
			}
			if got.err != nil {
				presentable(t, got.err, "")
			}
		})
	}
}

// TestToolWithoutSchema: a tool that cannot be described to Ollama is not blamed on Ollama.
func TestToolWithoutSchema(t *testing.T) {
	r := &recorder{shows: shows("completion tools", ""), chat: writes(200, hello+end)}
	e := recorded(t, r, ollama.Config{})
	for _, parameters := range []string{``, `7`, `{"type":"string"}`, `{"type":"object","properties":[]}`} {
		req := &llm.Request{Messages: say("hi").Messages, Tools: []llm.Tool{{Name: "note", Parameters: []byte(parameters)}}}
		if got := collect(t, e, t.Context(), req); fault(got.err) != llm.Unsupported {
			t.Errorf("%s: %v", parameters, got.err)
		}
	}
}
