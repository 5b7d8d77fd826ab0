package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDoctorTries: doctor has every server of OpenAI's protocol say a word, to a prompt as
// rooms make it, and tells what came of it.
func TestDoctorTries(t *testing.T) {
	t.Parallel()
	const templated = `{"error":{"message":"Jinja Exception: %s"}}`
	for _, tt := range []struct {
		name    string
		answers func(w http.ResponseWriter, body string)
		model   string
		want    string
	}{
		{"takes everything", func(w http.ResponseWriter, _ string) { speaks(w) }, "m", "✓ model          m on openai at HOST\n"},
		{"takes one system message", func(w http.ResponseWriter, body string) {
			if strings.Count(body, `"role":"system"`) > 1 {
				refuses(w, 500, fmt.Sprintf(templated, "System message must be at the beginning."))
				return
			}
			speaks(w)
		}, "m", "✓ model          m on openai at HOST; its chat template takes one system message and then turns, and it is asked so\n"},
		{"takes nothing", func(w http.ResponseWriter, _ string) {
			refuses(w, 400, fmt.Sprintf(templated, "Unexpected message role."))
		}, "m",
			"✗ model          openai at HOST: template (model m): 400 Bad Request: Jinja Exception: Unexpected message role.\n                   → start the server with the chat template that belongs to the model"},
		{"has no room", func(w http.ResponseWriter, _ string) { refuses(w, 500, `{"error":"CUDA out of memory."}`) }, "m",
			"✗ model          openai at HOST: no memory (model m): 500 Internal Server Error: CUDA out of memory.\n                   → choose a smaller executive.llm.model"},
		{"does not list it, and has it", func(w http.ResponseWriter, _ string) { speaks(w) }, "other", "✓ model          other on openai at HOST, which it does not list, and answers as\n"},
		{"does not list it, and has it not", func(w http.ResponseWriter, _ string) { refuses(w, 404, `{"error":"no such model"}`) }, "other", "✗ model          openai at HOST: no model (model other): 404 Not Found: no such model\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/models" {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
					return
				}
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), `"max_tokens":1,`) {
					t.Errorf("is asked for more than a token: %s", body)
				}
				tt.answers(w, string(body))
			}))
			defer s.Close()
			h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_EXECUTIVE_LLM_MODEL="+tt.model)
			r := h.earshot(nil, "doctor")
			if got := strings.ReplaceAll(r.out, strings.TrimPrefix(s.URL, "http://"), "HOST"); !strings.Contains(got, tt.want) {
				t.Errorf("doctor ended with %d and printed\n%swant\n%s", r.code, got, tt.want)
			}
		})
	}
}

// speaks answers with a word.
func speaks(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
}

// refuses answers with an error.
func refuses(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

// TestPromptOfTools bounds what the tools cost in each prompt of the person whose account
// this is, who may have all of them used: 4,700 bytes were some 1,500 tokens of a small
// model, several seconds of reading on a processor alone.
func TestPromptOfTools(t *testing.T) {
	t.Parallel()
	sizes := make(map[string]int)
	for _, use := range []string{"none", "schema"} {
		asked := make(chan string, 10)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/v1/models" {
				io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
				return
			}
			body, _ := io.ReadAll(r.Body)
			select {
			case asked <- string(body):
			default:
			}
			refuses(w, 400, `{"error":"not today"}`)
		}))
		defer s.Close()
		h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_EXECUTIVE_LLM_MODEL=m", "EARSHOT_EXECUTIVE_LLM_TOOLS="+use)
		w := h.open("run")
		w.await("is within earshot.", 1)
		w.types("\r")
		w.says("tell me of the tides")
		var body struct{ Messages []struct{ Content string } }
		if err := json.Unmarshal([]byte(<-asked), &body); err != nil {
			t.Fatal(err)
		}
		for _, m := range body.Messages {
			sizes[use] += len(m.Content)
			if strings.Contains(m.Content, "read_file") != (use == "schema" && strings.Contains(m.Content, `{"say":`)) {
				t.Errorf("with tools %s a message says %s", use, m.Content)
			}
			if i := strings.Index(m.Content, "Answer with one JSON object"); i >= 0 {
				t.Logf("%d bytes:\n%s", len(m.Content[i:]), m.Content[i:])
			}
		}
	}
	const most = 2300 // bytes; some 550 tokens
	if tools := sizes["schema"] - sizes["none"]; tools > most || tools < most/4 {
		t.Errorf("the tools cost %d bytes of a prompt of %d; at most %d", tools, sizes["schema"], most)
	}
}
