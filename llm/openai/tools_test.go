package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// asking is a question that offers tools, after calls and their results.
var asking = &llm.Request{
	Model: "parrot", MaxTokens: 20,
	Messages: []llm.Message{
		{Role: llm.System, Text: "Be kind."},
		{Role: llm.User, Text: "Keep it."},
		{Role: llm.Assistant, Text: "Yes.", Calls: []llm.Call{{ID: "a", Tool: "note", Arguments: json.RawMessage(`{"text":"it"}`)}, {ID: "b", Tool: "list"}}},
		{Role: llm.Result, Call: "a", Text: "kept"},
		{Role: llm.Result, Call: "b", Text: "one note"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "c", Tool: "note", Arguments: json.RawMessage(`{}`)}}},
		{Role: llm.Result, Call: "c", Text: "kept"},
	},
	Tools: []llm.Tool{
		{Name: "note", Description: "Keeps a note.", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
		{Name: "list", Parameters: json.RawMessage(`[]`)},
	},
}

// performed returns what e says and calls, and how it ended.
func performed(t *testing.T, e llm.Service, req *llm.Request) (said string, err error) {
	t.Helper()
	var calls []string
	for d, failed := range e.Stream(t.Context(), req) {
		switch {
		case failed != nil:
			err = failed
		case d.Call != nil:
			calls = append(calls, fmt.Sprintf("%s %s(%s)", d.Call.ID, d.Call.Tool, d.Call.Arguments))
		case len(calls) > 0 && d.Text+d.Thinking != "":
			t.Error("something is said after a call")
		case d.Thinking != "":
			said += "[" + d.Thinking + "]"
		case d.Done != nil && d.Done.Truncated:
			calls = append(calls, "truncated")
		}
		said += d.Text
	}
	return strings.TrimSpace(said + " " + strings.Join(calls, ", ")), err
}

// calling returns an event with pieces of calls.
func calling(pieces string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + pieces + `]},"finish_reason":null}]}`
}

func TestToolCalls(t *testing.T) {
	const whole = `{"index":0,"id":"x","type":"function","function":{"name":"note","arguments":"{\"text\":\"a\"}"}}`
	for _, tt := range []struct {
		name   string
		events []string
		want   string
		fault  string
	}{
		{"in one piece", []string{calling(whole), stop("tool_calls"), done}, `x note({"text":"a"})`, "no error"},
		{"in pieces", []string{
			calling(`{"index":0,"id":"x","type":"function","function":{"name":"note","arguments":""}}`),
			calling(`{"index":0,"function":{"arguments":"{\"te"}}`), calling(`{"index":0,"function":{"arguments":"xt\":\"ä\"}"}}`), stop("tool_calls"), done,
		}, `x note({"text":"ä"})`, "no error"},
		{"two, mixed, behind a text and a thought", []string{
			piece("<think>Hm</think>I will. <"), calling(`{"index":0,"id":"x","function":{"name":"note"}},{"index":1,"id":"y","function":{"name":"list","arguments":"{"}}`),
			calling(`{"index":1,"function":{"arguments":"}"}}`), stop("tool_calls"), counts, done,
		}, `[Hm]I will. < x note({}), y list({})`, "no error"},
		{"all numbered with 0, and the reason is another", []string{calling(whole), calling(`{"index":0,"id":"y","function":{"name":"list","arguments":"{}"}}`), stop("stop"), done},
			`x note({"text":"a"}), y list({})`, "no error"},
		{"no reason, but the end", []string{calling(whole), done}, `x note({"text":"a"})`, "no error"},
		{"truncated", []string{piece("Wait."), calling(`{"index":0,"id":"x","function":{"name":"note","arguments":"{\"text"}}`), stop("length"), done}, "Wait. x note(), truncated", "no error"},
		{"arguments that are no object", []string{calling(`{"index":0,"id":"x","function":{"name":"note","arguments":"[]"}}`), stop("tool_calls"), done}, "x note()", "no error"},
		{"a tag in the text", []string{piece(`<tool_call>{"name":"note","arguments":{}}</tool_call>`), stop("stop"), done}, `<tool_call>{"name":"note","arguments":{}}</tool_call>`, "no error"},
		{"of another choice", []string{strings.Replace(calling(whole), `"index":0,"delta"`, `"index":1,"delta"`, 1), stop("stop"), done}, "", "no error"},
		{"cut off", []string{piece("Wait."), calling(whole)}, "Wait.", "broken: the stream ended before the reply did | "},
		{"without a name", []string{calling(`{"index":0,"id":"x","function":{"arguments":"{}"}}`), stop("tool_calls"), done}, "", "bad answer: the model's call of a tool cannot be understood: a call without the name of a tool | executive.llm"},
		{"without end", []string{calling(`{"index":0,"id":"x","function":{"name":"note","arguments":"` + strings.Repeat("a", 70<<10) + `"}}`), stop("tool_calls"), done}, "",
			"bad answer: the model's call of a tool cannot be understood: arguments of more than 65536 bytes | executive.llm"},
		{"too many", append(repeated(33, func(i int) string {
			return calling(fmt.Sprintf(`{"index":%d,"function":{"name":"note","arguments":"{}"}}`, i))
		}), stop("tool_calls"), done), "",
			"bad answer: the model's call of a tool cannot be understood: more than 32 calls | executive.llm"},
		{"a number for the arguments", []string{calling(`{"index":0,"id":"x","function":{"name":"note","arguments":7}}`), stop("tool_calls"), done}, "x note()", "no error"},
		{"an object for the arguments", []string{calling(`{"index":0,"id":"x","function":{"name":"note","arguments":{"text":"a"}}}`), stop("tool_calls"), done}, `x note({"text":"a"})`, "no error"},
		{"a number for a call", []string{calling(`7`), stop("tool_calls"), done}, "", "no error"}, // it is skipped
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := serve(t, func(w http.ResponseWriter, _ *http.Request) { events(w, tt.events...) })
			said, err := performed(t, e, asking)
			if said != tt.want {
				t.Errorf("comes to %q, want %q", said, tt.want)
			}
			check(t, e.Name(), err, tt.fault)
		})
	}
}

// repeated returns n lines made by line.
func repeated(n int, line func(i int) string) (all []string) {
	for i := range n {
		all = append(all, line(i))
	}
	return all
}

func TestToolCallsWhole(t *testing.T) {
	e := serve(t, answer(200, "application/json", `{"choices":[{"message":{"role":"assistant","content":"Wait.","tool_calls":[
		{"id":"x","type":"function","function":{"name":"note","arguments":"{\"text\":\"a\"}"}},
		{"id":"x","type":"function","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	req := *asking
	req.Whole = true
	if said, err := performed(t, e, &req); said != `Wait. x note({"text":"a"}), call_2 list({})` || err != nil {
		t.Errorf("comes to %q, %v", said, err)
	}
}

// A toolbox is a server that records what it is asked, and may refuse tools.
type toolbox struct {
	refuses string // the sentence with which it refuses tools; code is the status
	code    int
	says    string
	asked   []map[string]any
}

func (b *toolbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	data, _ := io.ReadAll(r.Body)
	json.Unmarshal(data, &body)
	b.asked = append(b.asked, body)
	if b.refuses != "" && body["tools"] != nil {
		answer(b.code, "application/json", fmt.Sprintf(`{"error":{"message":%q}}`, b.refuses))(w, r)
		return
	}
	events(w, piece(b.says), stop("stop"), done)
}

// kinds returns in which way each question was asked.
func (b *toolbox) kinds() string {
	var all []string
	for _, body := range b.asked {
		kind := "plain"
		switch {
		case body["tools"] != nil && body["response_format"] != nil:
			kind = "both"
		case body["tools"] != nil:
			kind = "tools"
		case body["response_format"] != nil:
			kind = "schema"
		}
		all = append(all, kind)
	}
	b.asked = nil
	return strings.Join(all, " ")
}

func TestToolUse(t *testing.T) {
	const say, call = `{"say":"Yes."}`, `{"tool":"note","arguments":{"text":"a"}}`
	for _, tt := range []struct {
		name    string
		use     llm.ToolUse
		code    int
		refuses string
		says    string
		kinds   string // the ways in which two questions were asked
		said    string
		fault   string
	}{
		{"by itself", "", 0, "", "Yes.", "tools tools", "Yes.", "no error"},
		{"a server that does without", llm.Auto, 400, `"auto" tool choice requires --enable-auto-tool-choice`, say, "tools schema schema", "Yes.", "no error"},
		{"a server that fails", llm.Auto, 500, "tools param requires --jinja flag", call, "tools schema schema", `call_1 note({"text":"a"})`, "no error"},
		{"a gateway to nobody", llm.Auto, 404, "No endpoints found that support tool use.", say, "tools schema schema", "Yes.", "no error"},
		{"another refusal", llm.Auto, 400, "No.", say, "tools tools", "", "unsupported: 400 Bad Request: No. | executive.llm.model"},
		{"a wrong key", llm.Auto, 401, "No tools for you.", say, "tools tools", "", "refused: 401 Unauthorized: No tools for you. | executive.llm.api_key"},
		{"no tools, and it must", llm.Native, 400, "No tools.", say, "tools tools", "", "unsupported: 400 Bad Request: No tools. | executive.llm.model"},
		{"by schema", llm.BySchema, 0, "", call, "schema schema", `call_1 note({"text":"a"})`, "no error"},
		{"by schema, and it does not", llm.BySchema, 0, "", "Yes, I can.", "schema plain schema plain", "Yes, I can.", "no error"},
		{"neither tools nor schema", llm.Auto, 400, "No tools.", "Yes.", "tools schema plain schema plain", "Yes.", "no error"},
		{"by schema, and another one", llm.BySchema, 0, "", `{"talk":"Yes"}`, "schema schema", "", "bad answer: the model's call of a tool cannot be understood: the choice has an unknown key | executive.llm.tools"},
		{"by schema, and it breaks off", llm.BySchema, 0, "", `{"say":"Ye`, "schema schema", "Ye", "bad answer: the model's call of a tool cannot be understood: the choice ended too early | executive.llm.tools"},
		{"not at all", llm.NoTools, 0, "", say, "plain plain", say, "no error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &toolbox{refuses: tt.refuses, code: tt.code, says: tt.says}
			server := httptest.NewServer(b)
			defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
			e := engine(t, openai.Config{Host: server.URL, Model: "parrot", Tools: tt.use})
			for range 2 {
				said, err := performed(t, e, asking)
				if said != tt.said {
					t.Errorf("comes to %q, want %q", said, tt.said)
				}
				check(t, e.Name(), err, tt.fault)
			}
			if got := b.kinds(); got != tt.kinds {
				t.Errorf("asked %s, want %s", got, tt.kinds)
			}
		})
	}
}

// TestToolRequest: in which form tools, calls and their results are sent.
func TestToolRequest(t *testing.T) {
	b := &toolbox{says: "Yes."}
	server := httptest.NewServer(b)
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	performed(t, engine(t, openai.Config{Host: server.URL, Model: "parrot"}), asking)
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"model":"parrot","temperature":0,"max_tokens":20,"stream":true,"stream_options":{"include_usage":true},
		"tools":[
			{"type":"function","function":{"name":"note","description":"Keeps a note.","parameters":{"type":"object","properties":{"text":{"type":"string"}}}}},
			{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{}}}}],
		"messages":[
			{"role":"system","content":"Be kind."},
			{"role":"user","content":"Keep it."},
			{"role":"assistant","content":"Yes.","tool_calls":[
				{"id":"a","type":"function","function":{"name":"note","arguments":"{\"text\":\"it\"}"}},
				{"id":"b","type":"function","function":{"name":"list","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"kept"},
			{"role":"tool","tool_call_id":"b","content":"one note"},
			{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"note","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c","content":"kept"}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if len(b.asked) != 1 || !reflect.DeepEqual(b.asked[0], want) {
		t.Errorf("sends\n%v\nwant\n%v", b.asked, want)
	}
	if strings.Contains(fmt.Sprint(asking.Messages[3]), "RESULT") {
		t.Error("the request was changed")
	}
}
