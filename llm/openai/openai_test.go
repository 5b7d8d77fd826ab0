package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// TestMain sets in the environment what the engine must not take from there: with that proxy on
// this machine, address or key, the tests would fail.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "OPENAI_BASE_URL"} {
		os.Setenv(name, "http://127.0.0.1:1")
	}
	os.Setenv("OPENAI_API_KEY", "from-the-environment")
	os.Setenv("OPENAI_ORG_ID", "from-the-environment")
	goleak.VerifyTestMain(m)
}

// serve returns an engine for a server that answers with handle.
func serve(t *testing.T, handle http.HandlerFunc) *openai.Engine {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	return engine(t, openai.Config{Host: server.URL, Model: "parrot"})
}

func engine(t *testing.T, c openai.Config) *openai.Engine {
	t.Helper()
	e, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// ask returns what e says, with bars between pieces and thinking in brackets.
func ask(ctx context.Context, e llm.Service, req *llm.Request) (said string, done *llm.Done, err error) {
	var pieces []string
	for d, failed := range e.Stream(ctx, req) {
		switch {
		case failed != nil:
			err = failed
		case d.Done != nil:
			done = d.Done
		case d.Thinking != "":
			pieces = append(pieces, "["+d.Thinking+"]")
		default:
			pieces = append(pieces, d.Text)
		}
	}
	return strings.Join(pieces, "|"), done, err
}

var hello = &llm.Request{Messages: []llm.Message{
	{Role: llm.System, Text: "Be kind."}, {Role: llm.User, Text: "Hello."}, {Role: llm.Assistant, Text: "Yes?"}, {Role: llm.User, Text: "Tides?"},
}, Temperature: 0.5, MaxTokens: 20}

// events writes a stream with one event for each line, and ends it.
func events(w http.ResponseWriter, lines ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, line := range lines {
		fmt.Fprintf(w, "data: %s\n\n", line)
		w.(http.Flusher).Flush()
	}
}

// piece returns an event with some text.
func piece(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":` + string(quoted) + `},"finish_reason":null}]}`
}

// stop returns the event that tells why a reply ended.
func stop(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	counts = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`
	done   = "[DONE]"
)

func TestStream(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		want   string
		done   llm.Done
	}{
		{"a reply", []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, piece("The"), piece(" tides."), stop("stop"), counts, done},
			"The| tides.", llm.Done{PromptTokens: 9, ReplyTokens: 4}},
		{"no counts", []string{piece("The"), stop("stop"), done}, "The", llm.Done{}},
		{"truncated", []string{piece("The"), stop("length"), done}, "The", llm.Done{Truncated: true}},
		{"the reason with the last piece", []string{`{"choices":[{"delta":{"content":"The"},"finish_reason":"length"}]}`, done}, "The", llm.Done{Truncated: true}},
		{"no reason, but the end", []string{piece("The"), done}, "The", llm.Done{}},
		{"the reason, but no end", []string{piece("The"), stop("stop")}, "The", llm.Done{}},
		{"an empty reply", []string{stop("stop"), done}, "", llm.Done{}},
		{"comments and other events", []string{piece("The") + "\n\n: busy\n\nretry: 3", stop("stop"), done}, "The", llm.Done{}},
		{"an event of several lines", []string{"{\"choices\":[{\"delta\":\ndata: {\"content\":\"The\"}}]}", stop("stop"), done}, "The", llm.Done{}},
		{"thoughts of one kind", []string{`{"choices":[{"delta":{"reasoning_content":"Hm."}}]}`, piece("The"), stop("stop"), done}, "[Hm.]|The", llm.Done{}},
		{"thoughts of another", []string{`{"choices":[{"delta":{"content":null,"reasoning":"Hm."}}]}`, piece("The"), stop("stop"), done}, "[Hm.]|The", llm.Done{}},
		{"thoughts of both kinds", []string{`{"choices":[{"delta":{"reasoning":"Hm.","reasoning_content":"Hm."}}]}`, stop("stop"), done}, "[Hm.]", llm.Done{}},
		{"thoughts that are no text", []string{`{"choices":[{"delta":{"reasoning":{"a":1},"reasoning_content":null,"content":"The"}}]}`, stop("stop"), done}, "The", llm.Done{}},
		{"thoughts in tags", []string{piece("<thi"), piece("nk>Hm.</th"), piece("ink>The"), stop("stop"), done}, "[Hm.]|The", llm.Done{}},
		{"thoughts never closed", []string{piece("The <think>H"), piece("m."), stop("stop"), done}, "The |[H]|[m.]", llm.Done{}},
		{"half a tag at the end", []string{piece("a <thi"), stop("stop"), done}, "a |<thi", llm.Done{}},
		{"a refusal", []string{`{"choices":[{"delta":{"refusal":"No."}}]}`, stop("stop"), done}, "No.", llm.Done{}},
		{"a second choice", []string{`{"choices":[{"index":1,"delta":{"content":"Not this"}},{"index":0,"delta":{"content":"The"}}]}`, stop("stop"), done}, "The", llm.Done{}},
		{"half a rune", []string{`{"choices":[{"delta":{"content":"a\ud83d"}}]}`, stop("stop"), done}, "a\ufffd", llm.Done{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { events(w, tt.events...) }))
			defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
			e := engine(t, openai.Config{Host: server.URL, Model: "parrot"})
			got, done, err := ask(t.Context(), e, hello)
			if err != nil || got != tt.want {
				t.Errorf("says %q, %v; want %q", got, err, tt.want)
			}
			if done == nil || *done != tt.done {
				t.Errorf("done is %+v, want %+v", done, tt.done)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"a reply", `{"choices":[{"message":{"role":"assistant","content":"The tides."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`,
			"The tides. &{false 9 4}"},
		{"truncated", `{"choices":[{"message":{"content":"The"},"finish_reason":"length"}]}`, "The &{true 0 0}"},
		{"thoughts apart", `{"choices":[{"message":{"content":"The","reasoning_content":"Hm."},"finish_reason":"stop"}]}`, "[Hm.]|The &{false 0 0}"},
		{"thoughts in tags", `{"choices":[{"message":{"content":"<think>Hm.</think>\n\nThe"},"finish_reason":"stop"}]}`, "[Hm.]|The &{false 0 0}"},
		{"no choice", `{"choices":[]}`, "openai at HOST: bad answer (model parrot): the answer does not follow the protocol"},
		{"null", `null`, "openai at HOST: bad answer (model parrot): the answer does not follow the protocol"},
		{"content of another kind", `{"choices":[{"message":{"content":[1]},"finish_reason":"stop"}]}`, "openai at HOST: bad answer (model parrot): the answer does not follow the protocol"},
		{"half", `{"choices":[{"message":{"cont`, "openai at HOST: broken (model parrot): the stream ended before the reply did"},
		{"filtered", `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, "openai at HOST: broken (model parrot): the server's filter ended the reply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var asked map[string]any
				if json.NewDecoder(r.Body).Decode(&asked); asked["stream"] != nil && asked["stream"] != false {
					t.Errorf("asks for a stream: %v", asked)
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, tt.answer)
			})
			said, done, err := ask(t.Context(), e, &llm.Request{Whole: true})
			got := fmt.Sprint(said, " ", done)
			if err != nil {
				got = strings.ReplaceAll(err.Error(), e.Name(), "openai at HOST")
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestRequest: what the server is sent, word for word, and nothing else.
func TestRequest(t *testing.T) {
	var got struct {
		body   map[string]any
		header http.Header
		path   string
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.body = nil
		json.NewDecoder(r.Body).Decode(&got.body)
		got.header, got.path = r.Header, r.Method+" "+r.URL.Path
		events(w, stop("stop"), done)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	schema := json.RawMessage(`{"type":"object"}`)
	for _, tt := range []struct {
		name   string
		config openai.Config
		req    *llm.Request
		body   string
		key    string
		path   string
	}{
		{"everything", openai.Config{Host: server.URL + "/v1/", Model: "parrot", Key: "sesame"},
			&llm.Request{Model: "owl", Messages: hello.Messages, Temperature: 0.5, MaxTokens: 20, Schema: schema},
			`{"model":"owl","temperature":0.5,"max_tokens":20,"stream":true,"stream_options":{"include_usage":true},
			  "response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object"}}},
			  "messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hello."},{"role":"assistant","content":"Yes?"},{"role":"user","content":"Tides?"}]}`,
			"Bearer sesame", "POST /v1/chat/completions"},
		{"as little as can be", openai.Config{Host: server.URL, Model: "parrot"},
			&llm.Request{Messages: hello.Messages[:1]},
			`{"model":"parrot","temperature":0,"max_tokens":2048,"stream":true,"stream_options":{"include_usage":true},
			  "messages":[{"role":"system","content":"Be kind."}]}`,
			"", "POST /v1/chat/completions"},
		{"below a path", openai.Config{Host: server.URL + "/gateway/api", Model: "parrot"},
			&llm.Request{Messages: hello.Messages[:1], MaxTokens: 1},
			`{"model":"parrot","temperature":0,"max_tokens":1,"stream":true,"stream_options":{"include_usage":true},
			  "messages":[{"role":"system","content":"Be kind."}]}`,
			"", "POST /gateway/api/chat/completions"},
		{"empty texts", openai.Config{Host: server.URL, Model: "parrot"},
			&llm.Request{Messages: []llm.Message{{Role: llm.User}, {Role: llm.Assistant}, {Role: llm.Result, Call: "a"}}},
			`{"model":"parrot","temperature":0,"max_tokens":2048,"stream":true,"stream_options":{"include_usage":true},
			  "messages":[{"role":"user","content":""},{"role":"assistant","content":""},{"role":"tool","tool_call_id":"a","content":""}]}`,
			"", "POST /v1/chat/completions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := ask(t.Context(), engine(t, tt.config), tt.req); err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(tt.body), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.body, want) {
				t.Errorf("sends\n%v\nwant\n%v", got.body, want)
			}
			if key := got.header.Get("Authorization"); key != tt.key || got.path != tt.path {
				t.Errorf("sends %q to %s, want %q to %s", key, got.path, tt.key, tt.path)
			}
			for name, values := range got.header {
				if strings.HasPrefix(name, "X-") || strings.HasPrefix(name, "Openai-") || name == "User-Agent" && values[0] != "earshot" {
					t.Errorf("sends %s: %v", name, values)
				}
			}
		})
	}
}

// TestLeaving: when the reader leaves the loop, or the context ends, the request is closed when the
// range statement is over, and the server sees that.
func TestLeaving(t *testing.T) {
	cut := errors.New("somebody cut in")
	for _, tt := range []struct {
		name  string
		leave func(e llm.Service, cancel context.CancelCauseFunc, ctx context.Context) error
		want  error
	}{
		{"by breaking", func(e llm.Service, _ context.CancelCauseFunc, ctx context.Context) error {
			for range e.Stream(ctx, hello) {
				break
			}
			return nil
		}, nil},
		{"by its context", func(e llm.Service, cancel context.CancelCauseFunc, ctx context.Context) error {
			var end error
			for _, err := range e.Stream(ctx, hello) {
				cancel(cut)
				end = err
			}
			return end
		}, cut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gone := make(chan struct{})
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				events(w, piece("The"))
				<-r.Context().Done()
				close(gone)
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if err := tt.leave(e, cancel, ctx); err != tt.want {
				t.Errorf("ended with %v, want %v", err, tt.want)
			}
			testkit.Await(t, 5*time.Second, "the server sees the request closed", func() bool {
				select {
				case <-gone:
					return true
				default:
					return false
				}
			})
		})
	}
}

// TestConnectionIsUsedAgain: the next request uses the connection of a reply that came to its end.
func TestConnectionIsUsedAgain(t *testing.T) {
	var mu sync.Mutex
	from := make(map[string]bool)
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr] = true
		mu.Unlock()
		events(w, piece("The"), stop("stop"), done)
	})
	for range 5 {
		if _, _, err := ask(t.Context(), e, hello); err != nil {
			t.Fatal(err)
		}
	}
	if len(from) > 2 { // one, unless a packet came late
		t.Errorf("five replies took %d connections", len(from))
	}
}

// TestConnectionIsClosed: if a server closes a connection that it had promised to keep, it is asked
// over another one.
func TestConnectionIsClosed(t *testing.T) {
	var mu sync.Mutex
	from := make(map[string]int)
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr]++
		again := from[r.RemoteAddr] > 1
		mu.Unlock()
		if again {
			cutOff("")(w, r)
			return
		}
		events(w, piece("The"), stop("stop"), done)
	})
	for range 3 {
		if said, _, err := ask(t.Context(), e, hello); said != "The" || err != nil {
			t.Errorf("says %q, %v", said, err)
		}
	}
}

// TestConnectionIsClosedMeanwhile: so is a server that closes the connection while the prompt is on
// its way, as llama.cpp does after it has refused one.
func TestConnectionIsClosedMeanwhile(t *testing.T) {
	var mu sync.Mutex
	from := make(map[string]int)
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from[r.RemoteAddr]++
		again := from[r.RemoteAddr] > 1
		mu.Unlock()
		if again {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
			return
		}
		io.Copy(io.Discard, r.Body)
		events(w, piece("The"), stop("stop"), done)
	})
	long := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: strings.Repeat("tides ", 1<<20)}}}
	for range 10 {
		if said, _, err := ask(t.Context(), e, long); said != "The" || err != nil {
			t.Errorf("says %q, %v", said, err)
		}
	}
}

// TestManyAtOnce: an engine can be used by many goroutines at a time.
func TestManyAtOnce(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Content string } }
		json.NewDecoder(r.Body).Decode(&asked)
		events(w, piece(asked.Messages[0].Content), stop("stop"), done)
	})
	var g sync.WaitGroup
	for i := range 20 {
		g.Go(func() {
			want := fmt.Sprint("number ", i)
			got, _, err := ask(t.Context(), e, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: want}}})
			if err != nil || got != want {
				t.Errorf("says %q, %v; want %q", got, err, want)
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the replies", g.Wait)
}

func TestProbe(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path != "GET /v1/models" {
			t.Errorf("asks %s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"old","created":1},{"id":"new","created":3},{"id":"older"}]}`)
	})
	got, err := e.Probe(t.Context())
	want := llm.Status{Models: []llm.Model{{Name: "new"}, {Name: "old"}, {Name: "older"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("probed %+v, %v", got, err)
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct{ host, want string }{
		{"localhost:8080", "openai at localhost:8080"},
		{" http://10.0.0.7:1/v1/ ", "openai at 10.0.0.7:1"},
		{"models.example.org/v1", "openai at models.example.org"},
		{"[::1]:8080", "openai at [::1]:8080"},
		{"", "host has no host name; write it as localhost:8080"},
		{"ftp://a", "host must begin with http:// or https://"},
		{"http://ann:sesame@a", "host has a user name or a password in it; put a key under api_key"},
		{"http://a?b", "host has something after the address; leave out what begins with ? or #"},
		{"http://sesame:\x01", "host is not an address such as localhost:8080"},
	} {
		e, err := openai.New(openai.Config{Host: tt.host, Model: "a"})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = e.Name()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.host, got, tt.want)
		}
	}
}
