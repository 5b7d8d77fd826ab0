package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// talk is a prompt as a room makes it: system, user, user, system.
var talk = &llm.Request{Messages: []llm.Message{
	{Role: llm.System, Text: "You are Earshot."}, {Role: llm.User, Text: "[FROM: Ann] Hello."}, {Role: llm.User, Text: "[FROM: Bob] Tides?"}, {Role: llm.System, Text: "Be brief."},
}, MaxTokens: 20}

// A sent is a message as it is in the protocol.
type sent struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// templates imitates the templates of some models as far as they refuse prompts. Each returns its
// complaint, or nothing.
var templates = map[string]func([]sent) string{
	"Qwen": func(messages []sent) string {
		for i, m := range messages {
			if m.Role == "system" && i > 0 {
				return "System message must be at the beginning."
			}
		}
		return ""
	},
	"Mistral": func(messages []sent) string {
		turn := 0
		for i, m := range messages {
			switch {
			case m.Role == "system" && i == 0, m.Role == "tool", len(m.ToolCalls) > 0:
				for _, c := range m.ToolCalls {
					if len(c.ID) != 9 {
						return "Tool call IDs should be alphanumeric strings with length 9!"
					}
				}
				continue
			case (m.Role == "user") != (turn%2 == 0):
				return "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
			}
			turn++
		}
		return ""
	},
	"Llama": func(messages []sent) string {
		for _, m := range messages {
			if len(m.ToolCalls) > 1 {
				return "This model only supports single tool-calls at once!"
			}
		}
		return ""
	},
	"Gemma": func(messages []sent) string {
		for i, m := range messages {
			switch {
			case m.Role == "system" && i == 0:
				return "System role not supported"
			case (m.Role == "user") != (i%2 == 0):
				return "Conversation roles must alternate user/assistant/user/assistant/..."
			}
		}
		return ""
	},
	"none": func([]sent) string { return "Unexpected message role." },
}

// servers are the ways in which servers report a template's complaint.
var servers = map[string]func(w http.ResponseWriter, says string){
	"llama-server": func(w http.ResponseWriter, says string) {
		refuse(w, 400, `{"error":{"code":400,"message":%q,"type":"invalid_request_error"}}`,
			"\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('"+says+"') }}↵...\n^\nError: Jinja Exception: "+says)
	},
	"llama-server of 2025": func(w http.ResponseWriter, says string) {
		refuse(w, 500, `{"error":{"code":500,"message":%q,"type":"server_error"}}`, says+" at row 1, column 2:\n{%- if tools %}\n ^\n")
	},
	"vLLM": func(w http.ResponseWriter, says string) {
		refuse(w, 400, `{"object":"error","message":%q,"type":"BadRequestError","param":null,"code":400}`, says+" "+says)
	},
	"LM Studio": func(w http.ResponseWriter, says string) {
		refuse(w, 400, `{"error":%q}`, "Error rendering prompt with jinja template: \""+says+"\".\n\nThis is usually an issue with the model's prompt template. If you are using a popular model, you can try to search the model under lmstudio-community.")
	},
	"LM Studio, in a stream": func(w http.ResponseWriter, says string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: error\ndata: {\"error\":{\"message\":%q}}\n\n", "Error rendering prompt with jinja template: \""+says+"\"")
	},
	"LM Studio, in a stream, in another way": func(w http.ResponseWriter, says string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"error\":%q}\n\n", "Error rendering prompt with jinja template: \""+says+"\"")
	},
	"one that says it in plain text": func(w http.ResponseWriter, says string) {
		answer(500, "text/plain", says+"\n")(w, nil)
	},
	"a gateway that says 200": func(w http.ResponseWriter, says string) {
		refuse(w, 200, `{"error":{"message":%q,"code":400}}`, says)
	},
	"a gateway": func(w http.ResponseWriter, says string) {
		refuse(w, 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":%q,"provider_name":"A"}}}`, `{"message":"`+says+`"}`)
	},
}

func refuse(w http.ResponseWriter, code int, format, says string) {
	answer(code, "application/json", fmt.Sprintf(format, says))(w, nil)
}

// A templated is a server with the template of a model.
type templated struct {
	template func([]sent) string
	server   func(w http.ResponseWriter, says string)

	mu    sync.Mutex
	asked [][]sent
	tools int // how often tools were offered
}

func (s *templated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []sent `json:"messages"`
		Tools    []any  `json:"tools"`
		Format   any    `json:"response_format"`
	}
	data, _ := io.ReadAll(r.Body)
	json.Unmarshal(data, &body)
	s.mu.Lock()
	s.asked = append(s.asked, body.Messages)
	if body.Tools != nil {
		s.tools++
	}
	s.mu.Unlock()
	if says := s.template(body.Messages); says != "" {
		s.server(w, says)
		return
	}
	text := "Twice a day."
	if body.Format != nil {
		text = `{"say":"Twice a day."}`
	}
	events(w, piece(text), stop("stop"), done)
}

// count returns how often it was asked since the last call of count.
func (s *templated) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	s.asked = nil
	return n
}

// TestTemplates: whichever template refuses the form of a prompt, on whichever server, the prompt
// is sent in another form in the same turn, and from then on.
func TestTemplates(t *testing.T) {
	for _, tt := range []struct {
		template string
		form     llm.Form
		talk     int // requests until there is an answer
		tool     int
	}{
		{"Qwen", llm.OneSystem, 2, 1},
		{"Mistral", llm.OneSystem, 2, 2},
		{"Llama", llm.OneSystem, 1, 2},
		{"Gemma", llm.NoSystem, 2, 3}, // it takes no results of tools
	} {
		for name, server := range servers {
			t.Run(tt.template+" on "+name, func(t *testing.T) {
				for _, asked := range []struct {
					name string
					req  *llm.Request
					want int
				}{{"talk", talk, tt.talk}, {"tool", asking, tt.tool}} {
					s := &templated{template: templates[tt.template], server: server}
					listening := httptest.NewServer(s)
					defer testkit.Finish(t, testkit.Patience, "the end of the server", listening.Close)
					e := engine(t, openai.Config{Host: listening.URL, Model: "parrot"})
					for i, want := range []int{asked.want, 1} {
						said, err := performed(t, e, asked.req)
						if said != "Twice a day." || err != nil {
							t.Errorf("%s %d: says %q, %v", asked.name, i, said, err)
						}
						if n := s.count(); n != want {
							t.Errorf("%s %d: asked %d times, want %d", asked.name, i, n, want)
						}
					}
					if want := tt.form; asked.want > 1 && e.Form("") != want {
						t.Errorf("%s: keeps in mind %v, want %v", asked.name, e.Form(""), want)
					}
				}
			})
		}
	}
}

// TestTemplatesWhole: the same holds for a reply that is asked for as a whole.
func TestTemplatesWhole(t *testing.T) {
	for _, name := range []string{"llama-server", "vLLM", "a gateway that says 200"} {
		asked := 0
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			if data, _ := io.ReadAll(r.Body); strings.Count(string(data), `"system"`) > 1 {
				servers[name](w, "System message must be at the beginning.")
				return
			}
			answer(200, "application/json", `{"choices":[{"message":{"content":"Twice a day."},"finish_reason":"stop"}]}`)(w, r)
		})
		whole := *talk
		whole.Whole = true
		if said, err := performed(t, e, &whole); said != "Twice a day." || err != nil || asked != 2 {
			t.Errorf("%s: says %q, %v, asked %d times", name, said, err, asked)
		}
	}
}

// TestTemplateOfNobody: a template that refuses everything is tried once with each form, and is an
// error of its own kind.
func TestTemplateOfNobody(t *testing.T) {
	for name, server := range servers {
		s := &templated{template: templates["none"], server: server}
		listening := httptest.NewServer(s)
		defer testkit.Finish(t, testkit.Patience, "the end of the server", listening.Close)
		e := engine(t, openai.Config{Host: listening.URL, Model: "parrot"})
		for range 2 { // the second time the model may have another template
			_, err := performed(t, e, talk)
			if fault, ok := err.(*llm.Error); !ok || fault.Fault != llm.Template || !strings.Contains(fault.Cure, "chat template") {
				t.Errorf("%s: %v", name, err)
			}
			if n := s.count(); n != 3 || e.Form("") != llm.Plain {
				t.Errorf("%s: asked %d times, and keeps in mind %v", name, n, e.Form(""))
			}
		}
	}
}

// TestFormOfEachModel: the form that one model's template needs is not used for another model.
func TestFormOfEachModel(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if strings.Contains(string(data), `"owl"`) && strings.Count(string(data), `"system"`) > 1 {
			servers["vLLM"](w, "System message must be at the beginning.")
			return
		}
		events(w, piece("Yes."), stop("stop"), done)
	})
	owl := *talk
	owl.Model = "owl"
	for _, req := range []*llm.Request{talk, &owl} {
		if said, err := performed(t, e, req); said != "Yes." || err != nil {
			t.Errorf("says %q, %v", said, err)
		}
	}
	if e.Form("parrot") != llm.Plain || e.Form("owl") != llm.OneSystem {
		t.Errorf("keeps in mind %v and %v", e.Form("parrot"), e.Form("owl"))
	}
}

// TestRefusals: what servers say when they refuse something, which fault that is, what mends it,
// and how often they are asked.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  int
		body  string
		fault llm.Fault
		cure  string
		asked int
	}{
		{"llama-server, too long", 400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}`, llm.TooLong, "larger context", 1},
		{"vLLM, too long", 400, `{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 1024 tokens","type":"BadRequestError","code":400}`, llm.TooLong, "larger context", 1},
		{"LM Studio, too long", 400, `{"error":"Trying to keep the first 4810 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}`, llm.TooLong, "larger context", 1},
		{"another, too long", 422, `{"error":"Input validation error: inputs tokens + max_new_tokens must be <= 4096","error_type":"validation"}`, llm.TooLong, "larger context", 1},
		{"vLLM, no such model", 404, "{\"object\":\"error\",\"message\":\"The model `owl` does not exist.\",\"type\":\"NotFoundError\",\"code\":404}", llm.NoModel, "earshot doctor", 1},
		{"a gateway, no such model", 400, `{"error":{"message":"owl/owl is not a valid model ID","code":400}}`, llm.NoModel, "earshot doctor", 1},
		{"Ollama, no such model, which is named after a role", 404, `{"error":"model 'mistral-role-play' not found"}`, llm.NoModel, "earshot doctor", 1},
		{"no such model, which is named after tools", 404, `{"error":{"message":"The model hermes-tool-use does not exist.","code":404}}`, llm.NoModel, "earshot doctor", 1},
		{"a code, of a model that is named after tools", 400, `{"error":{"message":"model hermes-tool-use not found","code":"model_not_found"}}`, llm.NoModel, "earshot doctor", 1},
		{"a model that was unloaded", 400, `{"error":"Model is not loaded"}`, llm.NoModel, "earshot doctor", 1},
		{"a model that does not load", 500, `{"error":"Failed to load model \"owl\""}`, llm.NoModel, "earshot doctor", 1},
		{"TGI, too long", 400, `{"error":{"message":"The request of 5000 tokens exceeds the model's maximum sequence length of 4096"}}`, llm.TooLong, "larger context", 1},
		{"whose turn is last", 400, `{"error":{"message":"The last message must be from user","code":400}}`, llm.Template, "chat template", 3},
		{"llama-server, two at the end", 400, `{"error":{"message":"Cannot have 2 or more assistant messages at the end of the list.","code":400}}`, llm.Template, "chat template", 3},
		{"LM Studio, no model loaded", 400, `{"error":{"message":"No models loaded. Please load a model in the developer page.","type":"invalid_request_error","code":"model_not_found"}}`, llm.NoModel, "earshot doctor", 1},
		{"LM Studio, no room", 400, `{"error":"Failed to load model \"owl\". Error: Model loading was stopped due to insufficient system resources."}`, llm.NoMemory, "smaller", 1},
		{"vLLM, no room", 500, `{"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB","type":"InternalServerError"}}`, llm.NoMemory, "smaller", 1},
		{"no key", 401, `{"error":{"message":"No auth credentials found","code":401}}`, llm.Refused, "executive.llm.api_key", 1},
		{"nothing left", 402, `{"error":{"message":"Insufficient credits. Add more","code":402}}`, llm.Busy, "pay", 1},
		{"a quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}`, llm.Busy, "pay", 1},
		{"a limit, which names tools and roles", 429, `{"error":{"message":"Rate limit reached for this role and its tools"}}`, llm.Busy, "lower executive.llm.slots", 1},
		{"llama-server, loading", 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, llm.Busy, "until the server has loaded the model", 1},
		{"pictures", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, llm.Broken, "", 1},
		{"no schema", 400, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`, llm.Unsupported, "executive.llm.tools", 1},
		{"something else", 400, `{"error":{"message":"Unsupported value: 'temperature' must be 1."}}`, llm.Unsupported, "choose another", 1},
		{"fails", 500, `{"error":{"message":"Internal error"}}`, llm.Broken, "", 1},
		{"a gateway, of another's words", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"maximum context length is 8192\"}}"}}}`, llm.TooLong, "larger context", 1},
		{"the system prompt has another place", 400, `{"error":{"message":"The system prompt must come first.","code":400}}`, llm.Template, "chat template", 3},
		{"who begins", 400, `{"error":{"message":"Conversations must start with a user prompt","code":400}}`, llm.Template, "chat template", 3},
		{"two in a row", 400, `{"detail":"Consecutive messages of the same author are not allowed"}`, llm.Template, "chat template", 3},
		{"llama-server, an assistant at the end", 400, `{"error":{"code":400,"message":"Assistant response prefill is incompatible with enable_thinking.","type":"invalid_request_error"}}`, llm.Template, "chat template", 3},
		{"a prompt that is too long, by whoever", 400, `{"error":{"message":"The user prompt exceeds the context window of 4096 tokens"}}`, llm.TooLong, "larger context", 1},
		{"plain text", 400, "max_new_tokens must be smaller", llm.TooLong, "larger context", 1},
		{"a page for people", 502, "<html><body>The role of this gateway is to alternate</body></html>", llm.Broken, "", 1},
		{"a template that is broken", 500, `{"error":"Failed to parse Jinja template: Expected closing statement token."}`, llm.Template, "chat template", 3},
		{"Google, no system role", 400, `{"error":{"message":"Developer instruction is not enabled for models/gemma-3-27b-it","code":400}}`, llm.Template, "chat template", 2},
		{"OpenAI, no system role", 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","code":"unsupported_value"}}`, llm.Template, "chat template", 2},
		{"mistral-common", 400, `{"object":"error","message":"Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"}`, llm.Template, "chat template", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked int
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				answer(tt.code, "application/json", tt.body)(w, r)
			})
			_, err := performed(t, e, talk)
			fault, ok := err.(*llm.Error)
			if !ok || fault.Fault != tt.fault || !strings.Contains(fault.Cure, tt.cure) || tt.cure == "" && fault.Cure != "" {
				t.Fatalf("%v, cure %q; want %s, cure with %q", err, fault.Cure, tt.fault, tt.cure)
			}
			if asked != tt.asked {
				t.Errorf("asked %d times, want %d", asked, tt.asked)
			}
		})
	}
}

// TestTemplateInTheMiddle: once something was said, the prompt is not sent again.
func TestTemplateInTheMiddle(t *testing.T) {
	asked := 0
	e := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		events(w, piece("Twice"), `{"error":{"message":"Jinja Exception: System message must be at the beginning."}}`)
	})
	said, err := performed(t, e, talk)
	if fault, ok := err.(*llm.Error); said != "Twice" || !ok || fault.Fault != llm.Template || asked != 1 {
		t.Errorf("says %q, %v, asked %d times", said, err, asked)
	}
}
