package ollama_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
)

const (
	hello = `{"message":{"role":"assistant","content":"Hello"},"done":false}` + "\n"
	end   = `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"
	noted = `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"note","arguments":{"text":"milk"}}}]},"done":false}`
	page  = "<!DOCTYPE html><html><body>It works! secret</body></html>"
)

// writes returns a server that answers everything with a status and a body.
func writes(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// dies returns a server that writes body and then breaks the connection.
func dies(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, body)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// floods returns a server that writes block again and again until it is stopped, or has written 10
// GB.
func floods(block string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for range 10 << 30 / len(block) {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
}

// hostile lists servers that do not behave as Ollama does.
var hostile = []struct {
	name  string
	serve http.HandlerFunc
	text  string    // what is said before the end
	fault llm.Fault // empty for a reply that ends well
	says  string    // a part of the error
}{
	{"nothing", writes(200, ""), "", llm.Broken, "ended in the middle of the reply"},
	{"blank lines", writes(200, "\n\n \r\n\n"), "", llm.Broken, "ended in the middle of the reply"},
	{"only a beginning", writes(200, hello), "Hello", llm.Broken, "ended in the middle of the reply"},
	{"half a line", writes(200, hello+end[:30]), "Hello", llm.Broken, "ended in the middle of the reply"},
	{"half a line and dead", dies(hello + end[:30]), "Hello", llm.Broken, "unexpected EOF"},
	{"dead at once", dies(""), "", llm.Broken, "EOF"},
	{"the end without a line break", writes(200, hello+strings.TrimSpace(end)), "Hello", "", ""},
	{"more after the end", writes(200, hello+end+hello+page), "Hello", "", ""},
	{"endless after the end", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, hello+end)
		floods(strings.Repeat(hello, 1000))(w, r)
	}, "Hello", "", ""},
	{"open after the end", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, hello+end)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, "Hello", "", ""},
	{"empty objects", writes(200, "{}\nnull\n"+hello+"{\"new\":[1]}\n"+end), "Hello", "", ""},
	{"a page", writes(200, page), "", llm.BadAnswer, ""},
	{"a page in mid-reply", writes(200, hello+page+"\n"+end), "Hello", llm.BadAnswer, ""},
	{"a page of 404", writes(404, page), "", llm.BadAnswer, "404 Not Found"},
	{"a page of 502", writes(502, page), "", llm.Broken, "502 Bad Gateway"},
	{"binary", writes(200, "\x00\x01\x02\xff\xfe\n\x1b]0;x\x07"), "", llm.BadAnswer, ""},
	{"a list", writes(200, "[]\n"), "", llm.BadAnswer, ""},
	{"a number for a text", writes(200, `{"message":{"content":7}}`+"\n"+end), "", llm.BadAnswer, ""},
	{"a list for a message", writes(200, hello+`{"message":["secret"]}`+"\n"), "Hello", llm.BadAnswer, ""},
	{"a text for done", writes(200, hello+`{"done":"secret"}`+"\n"), "Hello", llm.BadAnswer, ""},
	{"a number for an error", writes(200, `{"error":500}`+"\n"), "", llm.BadAnswer, ""},
	{"an error in mid-reply", writes(200, hello+`{"error":"llama runner process has terminated"}`+"\n"), "Hello", llm.Broken, "has terminated"},
	{"an error for a terminal", writes(500, `{"error":"\u001b[2Jboom\n\u0007"}`), "", llm.Broken, "boom"},
	{"an error without end", writes(500, `{"error":"`+strings.Repeat("x", 30<<10)+`"}`), "", llm.Broken, "xxx"},
	{"an error that quotes", writes(400, `{"error":"{\"messages\":[\"secret\"]}"}`), "", llm.Unsupported, "400"},
	{"too little memory", writes(500, `{"error":"model requires more system memory (5.6 GiB) than is available (1.0 GiB)"}`), "", llm.Unsupported, "5.6 GiB"},
	{"busy", writes(503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`), "", llm.Busy, "busy"},
	{"too many", writes(429, ""), "", llm.Busy, "429"},
	{"a stranger", writes(401, `{"error":"unauthorized"}`), "", llm.Refused, "401"},
	{"forbidden", writes(403, `{"error":"cloud is disabled"}`), "", llm.Refused, "cloud"},
	{"a teapot", writes(418, page), "", llm.BadAnswer, "418"},
	{"accepted", writes(202, hello+end), "", llm.BadAnswer, "202"},
	{"invalid UTF-8", writes(200, "{\"message\":{\"content\":\"a\xffb\xc3\"}}\n"+end), "a\ufffdb\ufffd", "", ""},
	{"half a surrogate", writes(200, `{"message":{"content":"a\ud83d"}}`+"\n"+end), "a\ufffd", "", ""},
	{"negative counts", writes(200, `{"done":true,"prompt_eval_count":-1,"eval_count":-5}`), "", "", ""},
	{"a list for a call", writes(200, hello+`{"message":{"tool_calls":[["secret"]]}}`+"\n"+end), "Hello", llm.BadAnswer, ""},
	{"a text for calls", writes(200, `{"message":{"tool_calls":"secret"}}`+"\n"+end), "", llm.BadAnswer, ""},
	{"a call of nothing", writes(200, hello+`{"message":{"tool_calls":[{"function":{"arguments":{"secret":1}}}]}}`+"\n"+end), "Hello", llm.BadAnswer, "without the name of a tool"},
	{"more calls than anybody means", writes(200, hello+strings.Repeat(noted+"\n", 40)+end), "Hello", llm.BadAnswer, "more than 32 calls"},
	{"a call of a megabyte", writes(200, hello+strings.Replace(noted, "milk", strings.Repeat("x", 1<<19), 1)+"\n"+end), "Hello", llm.BadAnswer, "arguments of more than"},
	{"calls without end", floods(strings.Repeat(noted+"\n", 100)), "", llm.BadAnswer, "more than 32 calls"},
	{"cut behind a call", writes(200, hello+noted+"\n"), "Hello", llm.Broken, "ended in the middle of the reply"},
	{"a line of 10 GB", floods(strings.Repeat("x", 1<<20)), "", llm.BadAnswer, "a line of more than"},
	{"a text of 10 GB", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"message":{"content":"`)
		floods(strings.Repeat("x", 1<<20))(w, r)
	}, "", llm.BadAnswer, "a line of more than"},
	{"a reply of 10 GB", floods(`{"thinking":"` + strings.Repeat("x", 1<<19) + `"}` + "\n"), "", llm.BadAnswer, "a reply of more than"},
	{"a header of 1 MB", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		io.WriteString(w, hello+end)
	}, "", llm.BadAnswer, ""},
}

func TestHostile(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			e := against(t, tt.serve)
			before := allocated()
			r := collect(t, e, t.Context(), say("my secret"))
			if used := allocated() - before; used > 96<<20 {
				t.Errorf("took %d MB of memory", used>>20)
			}
			if len(r.calls) > 0 {
				t.Errorf("calls %s", called(r))
			}
			if r.text != tt.text || fault(r.err) != tt.fault {
				t.Fatalf("said %.40q, error %v; want %q, %q", r.text, r.err, tt.text, tt.fault)
			}
			if r.err != nil {
				presentable(t, r.err, tt.says)
			}
			if r.done != nil && (r.done.PromptTokens < 0 || r.done.ReplyTokens < 0) {
				t.Errorf("counted %+v", *r.done)
			}
			if !utf8.ValidString(r.text) {
				t.Errorf("not UTF-8: %q", r.text)
			}
		})
	}
}

// TestHostileProbe: the same servers, asked by Probe.
func TestHostileProbe(t *testing.T) {
	for _, tt := range hostile {
		if tt.fault == "" || tt.text != "" {
			continue // only the pieces of its reply are wrong
		}
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.serve)
			defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
			e := open(t, ollama.Config{Host: server.URL, Model: "m"})
			before := allocated()
			_, err := e.Probe(t.Context())
			if used := allocated() - before; used > 192<<20 {
				t.Errorf("took %d MB of memory", used>>20)
			}
			if fault(err) == "" {
				t.Fatalf("got %v", err)
			}
			presentable(t, err, "")
		})
	}
}

// presentable checks that an error can be shown to anybody, on any terminal.
func presentable(t *testing.T, err error, says string) {
	t.Helper()
	text := err.Error()
	if !strings.Contains(text, says) {
		t.Errorf("got %q, want something with %q", text, says)
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "Hello") || strings.Contains(text, "<") {
		t.Errorf("quotes what was sent: %q", text)
	}
	if len(text) > 400 || strings.ContainsFunc(text+cure(err), unicode.IsControl) {
		t.Errorf("%d bytes, with control characters perhaps: %.500q", len(text), text)
	}
}

// against returns an engine whose chats go to that server.
func against(t testing.TB, chat http.HandlerFunc) *ollama.Engine {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/api/show", writes(200, `{"capabilities":["completion"]}`))
	mux.HandleFunc("/api/chat", chat)
	server := httptest.NewServer(mux)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	return open(t, ollama.Config{Host: server.URL, Model: "m"})
}

// allocated returns how many bytes were allocated in total so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestNoHTTP: a server that does not speak HTTP at all is told apart from a broken one.
func TestNoHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // runs until l is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.Copy(io.Discard, r.Body) // closing with unread data would reset the connection
			}
			io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
			c.Close()
		}
	}()
	r := collect(t, open(t, ollama.Config{Host: l.Addr().String(), Model: "m"}), t.Context(), say("hello"))
	if fault(r.err) != llm.BadAnswer || !strings.Contains(cure(r.err), "is not Ollama") {
		t.Errorf("got %v, cure %q", r.err, cure(r.err))
	}
}

// TestRedirect: a redirect is not followed, since what is said here is meant only for the server
// that was configured.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the prompt went elsewhere")
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		to := func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, status)
		}
		r := collect(t, against(t, to), t.Context(), say("hello"))
		if fault(r.err) != llm.BadAnswer || !strings.Contains(r.err.Error(), "redirects") {
			t.Errorf("%d: %v", status, r.err)
		}
	}
}

// TestDrip: a server that sends a byte at a time is read as long as the context lives, and no
// longer. Patience is limited by the ladder, not here.
func TestDrip(t *testing.T) {
	dripped := 0
	e := against(t, func(w http.ResponseWriter, r *http.Request) {
		drip := time.NewTicker(5 * time.Millisecond)
		defer drip.Stop()
		for i := 0; ; i++ {
			select {
			case <-r.Context().Done():
				return
			case <-drip.C:
			}
			io.WriteString(w, hello[i%len(hello):][:1])
			http.NewResponseController(w).Flush()
		}
	})
	because := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for d, err := range e.Stream(ctx, say("hello")) {
		if last = err; d.Text == "Hello" {
			dripped++
			cancel(because)
		}
	}
	if dripped != 1 || last != because {
		t.Errorf("got %d pieces and %v", dripped, last)
	}
	l := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: e}}, FirstToken: 30 * time.Millisecond, Total: 200 * time.Millisecond}
	if r := collect(t, l, t.Context(), say("hello")); fault(r.err) == "" || r.text != "" {
		t.Errorf("the ladder waited for %q, %v", r.text, r.err)
	}
}

func ExampleNew() {
	e, err := ollama.New(ollama.Config{Host: "localhost", Model: "deepseek-r1:8b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	fmt.Println(e.Name())
	// Output: ollama at localhost:11434
}

// TestARefusalRepeatsNoPrompt: an error quotes the server's sentence, but none of the user's words
// in it.
func TestARefusalRepeatsNoPrompt(t *testing.T) {
	for _, tt := range []struct{ says, want string }{
		{`{"error":"cannot render: [FROM: ann] the canary sings"}`, "it repeats the question"},
		{`{"error":"cannot parse arguments: {\"text\":\"where the canary sleeps\"}"}`, "it repeats the question"},
		{`{"error":"cannot render"}`, "500 Internal Server Error: cannot render"},
	} {
		s := httptest.NewServer(writes(http.StatusInternalServerError, tt.says))
		e, err := ollama.New(ollama.Config{Host: s.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "[FROM: ann] the canary sings"},
			{Role: llm.Assistant, Calls: []llm.Call{call("note", `{"text":"where the canary sleeps"}`)}}}}
		for _, err := range e.Stream(t.Context(), req) {
			if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		}
		e.Close()
		testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
	}
}
