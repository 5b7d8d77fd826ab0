package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
)

// A recorder is a server that records word for word what it is asked.
type recorder struct {
	shows func() (status int, body string)
	chat  http.HandlerFunc

	mu    sync.Mutex
	asked []string // "show", "chat {…}"
}

// ServeHTTP implements [http.Handler].
func (r *recorder) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)
	if in.URL.Path == "/api/show" {
		r.note("show")
		status, body := r.shows()
		writes(status, body)(w, in)
		return
	}
	r.note("chat " + string(body))
	r.chat(w, in)
}

// note records one request.
func (r *recorder) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, what)
}

// take returns what was asked since the last call of take.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

// shows returns an /api/show for a model with these capabilities and this template.
func shows(capabilities, template string) func() (int, string) {
	return func() (int, string) {
		data, _ := json.Marshal(map[string]any{"capabilities": strings.Fields(capabilities), "template": template})
		return 200, string(data)
	}
}

// recorded serves r, and returns an engine that asks it.
func recorded(t *testing.T, r *recorder, c ollama.Config) *ollama.Engine {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	c.Host, c.Model = server.URL, "m"
	return open(t, c)
}

// TestAsked: exactly this is asked. An additional field, or one that changes between requests, may
// make the server reload the model or spoil its cache.
func TestAsked(t *testing.T) {
	const usual = `"truncate":false,"shift":false}`
	for _, tt := range []struct {
		name   string
		config ollama.Config
		can    string
		req    llm.Request
		want   string
	}{
		{"nothing special", ollama.Config{}, "completion", llm.Request{},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"everything", ollama.Config{}, "completion thinking",
			llm.Request{Model: "other", Temperature: 0.7, MaxTokens: 50, Think: true, Schema: json.RawMessage(`{"type":"object"}`), Whole: true},
			`{"model":"other","messages":[{"role":"user","content":"hi"}],"stream":false,"format":{"type":"object"},"options":{"num_predict":50,"temperature":0.7},"think":true,` + usual},
		{"thoughts that it cannot have", ollama.Config{}, "completion tools vision", llm.Request{Think: true},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"no thoughts of one that has them", ollama.Config{}, "completion thinking", llm.Request{MaxTokens: -1},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"tools", ollama.Config{}, "completion tools", llm.Request{Tools: tools[:2]},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"tools":[` +
				`{"type":"function","function":{"name":"note","description":"Keeps a note.","parameters":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}},` +
				`{"type":"function","function":{"name":"write_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}}}}}` +
				`],"options":{"num_predict":4096,"temperature":0},"think":false,"truncate":false,"shift":false,"logprobs":true}`},
		{"no tools", ollama.Config{Tools: llm.NoTools}, "completion tools", llm.Request{Tools: tools},
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"calls and what they came to", ollama.Config{}, "completion tools", llm.Request{Messages: []llm.Message{
			{Role: llm.Assistant, Text: "Wait.", Calls: []llm.Call{call("note", `{"z":1,"a":"b"}`), {ID: "y", Tool: "list_files"}}},
			{Role: llm.Result, Call: "y", Text: "a.txt"},
			{Role: llm.Result, Call: "z", Text: "b.txt"},
		}},
			`{"model":"m","messages":[{"role":"user","content":"hi"},` +
				`{"role":"assistant","content":"Wait.","tool_calls":[{"function":{"index":0,"name":"note","arguments":{"z":1,"a":"b"}}},{"id":"y","function":{"index":1,"name":"list_files","arguments":{}}}]},` +
				`{"role":"tool","content":"a.txt","tool_name":"list_files","tool_call_id":"y"},{"role":"tool","content":"b.txt","tool_call_id":"z"}],` +
				`"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"a picture", ollama.Config{}, "completion vision", llm.Request{Messages: []llm.Message{
			{Role: llm.User, Text: "what is this?", Images: []llm.Image{{0xff, 0xd8, 0xff, 0xe0}}}, {Role: llm.System, Text: "You see.", AltText: "You cannot see."},
		}},
			`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"user","content":"what is this?","images":["/9j/4A=="]},{"role":"system","content":"You see."}],` +
				`"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
		{"a picture for one who cannot see", ollama.Config{}, "completion", llm.Request{Messages: []llm.Message{
			{Role: llm.User, Text: "what is this?", Images: []llm.Image{{0xff, 0xd8, 0xff, 0xe0}}}, {Role: llm.System, Text: "You see.", AltText: "You cannot see."},
		}},
			`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"user","content":"what is this?"},{"role":"system","content":"You cannot see."}],` +
				`"stream":true,"options":{"num_predict":4096,"temperature":0},"think":false,` + usual},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{shows: shows(tt.can, ""), chat: writes(200, hello+end)}
			e := recorded(t, r, tt.config)
			tt.req.Messages = append(say("hi").Messages, tt.req.Messages...)
			for range 2 {
				told(t, collect(t, e, t.Context(), &tt.req), "Hello")
			}
			asked := r.take()
			if len(asked) != 3 || asked[0] != "show" || asked[1] != asked[2] {
				t.Fatalf("asked for %q", asked)
			}
			if got := strings.TrimPrefix(asked[1], "chat "); got != tt.want {
				t.Errorf("asked\n%s, want\n%s", got, tt.want)
			}
		})
	}
}

// TestAbility: what a model can do is asked once, and again after every error.
func TestAbility(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fails int // which of the three requests
		want  int // how often its abilities are asked
	}{
		{"all is well", 0, 1},
		{"the first fails", 1, 2},
		{"the second fails", 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			r := &recorder{shows: shows("completion", "")}
			r.chat = func(w http.ResponseWriter, in *http.Request) {
				if n++; n == tt.fails {
					writes(500, "{}")(w, in)
					return
				}
				writes(200, hello+end)(w, in)
			}
			e := recorded(t, r, ollama.Config{})
			for range 3 {
				collect(t, e, t.Context(), say("hi"))
			}
			got := 0
			for _, a := range r.take() {
				if a == "show" {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("asked %d times, want %d", got, tt.want)
			}
		})
	}
}

// TestThoughtless: if a model turns out to be unable to think any longer, it is at once asked again
// without.
func TestThoughtless(t *testing.T) {
	n := 0
	r := &recorder{shows: shows("completion thinking", "")}
	r.chat = func(w http.ResponseWriter, in *http.Request) {
		if n++; n == 1 {
			writes(400, `{"error":"\"m\" does not support thinking"}`)(w, in)
			return
		}
		writes(200, hello+end)(w, in)
	}
	req := say("hi")
	req.Think = true
	told(t, collect(t, recorded(t, r, ollama.Config{}), t.Context(), req), "Hello")
	asked := r.take()
	if len(asked) != 3 || !strings.Contains(asked[1], `"think":true`) || !strings.Contains(asked[2], `"think":false`) {
		t.Errorf("asked for %q", asked)
	}
}

// TestThoughts: thoughts are told apart from the reply wherever they stand and however they are
// cut.
func TestThoughts(t *testing.T) {
	piece := func(content, thinking string) string {
		data, _ := json.Marshal(map[string]any{"message": map[string]string{"content": content, "thinking": thinking}})
		return string(data) + "\n"
	}
	for _, tt := range []struct {
		name, can, template string
		think               bool
		body                string
		text, thinking      string
	}{
		{"parted by the server", "thinking", "", true, piece("", "Hm") + piece("", "…") + piece("Yes.", ""), "Yes.", "Hm…"},
		{"in tags", "", "", true, piece("<thi", "") + piece("nk>Hm</", "") + piece("think>Ye", "") + piece("s.", ""), "Yes.", "Hm"},
		{"never closed", "", "", false, piece("<think>Hm", "") + piece("… no", ""), "", "Hm… no"},
		{"both ways", "thinking", "", true, piece("", "Hm") + piece("<think>Hm?</think>Yes.", ""), "Yes.", "HmHm?"},
		{"begun by the prompt", "", "{{ .Prompt }}<think>\n", false, piece("Hm</think>Yes.", ""), "Yes.", "Hm"},
		{"begun by the prompt, and the server knows", "thinking", "{{ .Prompt }}<think>\n", true, piece("", "Hm") + piece("Yes.", ""), "Yes.", "Hm"},
		{"no tag at the end", "", "", false, piece("1 <", "") + piece("", ""), "1 <", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{shows: shows(tt.can, tt.template), chat: writes(200, tt.body+end)}
			req := say("hi")
			req.Think = tt.think
			got := collect(t, recorded(t, r, ollama.Config{}), t.Context(), req)
			told(t, got, tt.text)
			if got.thinking != tt.thinking {
				t.Errorf("thought %q, want %q", got.thinking, tt.thinking)
			}
		})
	}
}

// A closer is a transport that tells when the body of a reply is closed.
type closer struct {
	http.RoundTripper
	closed chan struct{}
}

// RoundTrip implements [http.RoundTripper].
func (c closer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Path == "/api/chat" {
		resp.Body = closing{resp.Body, c.closed}
	}
	return resp, err
}

// closing is a body that tells when it is closed.
type closing struct {
	io.ReadCloser
	closed chan struct{}
}

// Close implements [io.Closer].
func (c closing) Close() error {
	defer close(c.closed)
	return c.ReadCloser.Close()
}

// TestReleased: however a stream is left, its connection has been closed by then, and the server
// sees that.
func TestReleased(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(cancel func()) (stop bool)
	}{
		{"leaving the loop", func(func()) bool { return true }},
		{"ending the context", func(cancel func()) bool { cancel(); return false }},
		{"both", func(cancel func()) bool { cancel(); return true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := make(chan struct{})
			r := &recorder{shows: shows("completion", ""), chat: func(w http.ResponseWriter, in *http.Request) {
				defer close(seen)
				io.WriteString(w, hello)
				http.NewResponseController(w).Flush()
				<-in.Context().Done()
			}}
			c := closer{new(http.Transport), make(chan struct{})}
			e := recorded(t, r, ollama.Config{Client: &http.Client{Transport: c}})
			defer c.RoundTripper.(*http.Transport).CloseIdleConnections()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range e.Stream(ctx, say("hi")) {
				if tt.leave(cancel) {
					break
				}
			}
			select {
			case <-c.closed:
			default:
				t.Error("the loop is over and the connection is not")
			}
			testkit.Await(t, 5*time.Second, "the server to see the request end", func() bool {
				select {
				case <-seen:
					return true
				default:
					return false
				}
			})
		})
	}
}

// TestClosedWhileBusy: a context that ends while the reader is busy closes the request without the
// reader's help.
func TestClosedWhileBusy(t *testing.T) {
	seen := make(chan struct{})
	e := against(t, func(w http.ResponseWriter, in *http.Request) {
		defer close(seen)
		io.WriteString(w, hello)
		http.NewResponseController(w).Flush()
		<-in.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range e.Stream(ctx, say("hi")) {
		if err != nil {
			break
		}
		cancel()
		testkit.Receive(t, testkit.Patience, "somebody to close the request", seen)
	}
}

// TestContext: with a context that has ended, nothing is asked. When it ends during a stream, that
// yields the cause, and nothing more that was already read.
func TestContext(t *testing.T) {
	because := errors.New("somebody spoke")
	r := &recorder{shows: shows("completion", ""), chat: writes(200, strings.Repeat(hello, 100)+end)}
	e := recorded(t, r, ollama.Config{})

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	for d, err := range e.Stream(ctx, say("hi")) {
		if n++; n == 1 {
			cancel(because) // the other 99 are already in the buffer
			continue
		}
		if err != because || d != (llm.Delta{}) {
			t.Errorf("then came %+v, %v", d, err)
		}
	}
	if n != 2 {
		t.Errorf("%d deltas, want one and the cause", n)
	}

	r.take()
	if got := collect(t, e, ctx, say("hi")); got.err != because || got.deltas != 1 {
		t.Errorf("got %+v", got)
	}
	if _, err := e.Probe(ctx); err != because {
		t.Errorf("probing: %v", err)
	}
	if asked := r.take(); len(asked) != 0 {
		t.Errorf("was asked for %q", asked)
	}
}

// TestConnectionKept: the body of a complete reply is read to its end; otherwise its connection
// could not be used again.
func TestConnectionKept(t *testing.T) {
	rest := new(reached)
	told(t, answered(t, io.MultiReader(strings.NewReader(hello+end), rest)), "Hello")
	if !*rest {
		t.Error("the body was not read to its end")
	}
}

// reached is the end of a body; it tells whether somebody read that far.
type reached bool

// Read implements [io.Reader].
func (r *reached) Read([]byte) (int, error) {
	*r = true
	return 0, io.EOF
}

// TestNameless: without the name of a model nobody is asked.
func TestNameless(t *testing.T) {
	e := open(t, ollama.Config{Host: "localhost"})
	r := collect(t, e, t.Context(), say("hi"))
	if fault(r.err) != llm.NoModel || !strings.Contains(cure(r.err), "executive.llm.model") {
		t.Errorf("got %v, cure %q", r.err, cure(r.err))
	}
	if err := e.Unload(t.Context(), ""); fault(err) != llm.NoModel {
		t.Errorf("unloading: %v", err)
	}
}
