package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// canary is in the prompt, and must not be in any error.
const canary = "the ferry leaves from pier nineteen at midnight"

// secret returns a request with the canary in it.
func secret(whole bool) *llm.Request {
	return &llm.Request{Whole: whole, Messages: []llm.Message{{Role: llm.User, Text: "Remember: " + canary + "."}}}
}

// answer returns a handler that answers with a status, a content type and a body.
func answer(code int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// cutOff returns a handler that writes raw bytes, and closes the connection.
func cutOff(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // closing with unread data resets the connection, and the answer may be lost
		c, b, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		b.WriteString(raw)
		b.Flush()
	}
}

const eventHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk returns text as one chunk of a body.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

func TestHostileServers(t *testing.T) {
	const (
		stream = "text/event-stream"
		js     = "application/json"
		html   = "text/html; charset=utf-8"
	)
	page := "<html><body>" + canary + "</body></html>"
	complaint := func(code, message string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","code":"` + code + `"}}`
	}
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		said   string
		want   string // the fault, the text of the error, and after a bar the cure
	}{
		{"nothing", answer(200, stream, ""), "", "broken: the stream ended before the reply did | "},
		{"nothing, not even a header", cutOff(""), "", "broken: the stream ended before the reply did | "},
		{"half a header", cutOff("HTTP/1.1 200 O"), "", "broken: the stream ended before the reply did | "},
		{"no HTTP", cutOff(canary + "\r\n\r\n"), "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"half a line", answer(200, stream, `data: {"choices":[{"delta":{"cont`), "", "broken: the stream ended before the reply did | "},
		{"half a reply", answer(200, stream, "data: "+piece("The")+"\n\n"), "The", "broken: the stream ended before the reply did | "},
		{"cut off", cutOff(eventHeader + chunk("data: "+piece("The")+"\n\n") + "ff\r\nda"), "The", "broken: the stream ended before the reply did | "},
		{"a page", answer(200, html, page), "", "bad answer: sent a web page | executive.llm.host"},
		{"a page without a type", answer(200, "", page), "", "broken: the stream ended before the reply did | "},
		{"a page of another type", answer(200, "text/plain", page), "", "broken: the stream ended before the reply did | "},
		{"a whole reply", answer(200, js, `{"choices":[{"message":{"content":"The"}}]}`), "", "broken: does not stream | "},
		{"broken JSON", answer(200, stream, "data: {]"+canary+"\n\n"), "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"JSON of another kind", answer(200, stream, "data: [\""+canary+"\"]\n\n"), "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"a number for text", answer(200, stream, `data: {"choices":[{"delta":{"content":7}}]}`+"\n\n"), "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"a text for choices", answer(200, stream, `data: {"choices":"`+canary+`"}`+"\n\n"), "", "broken: the stream ended before the reply did | "},
		{"deep JSON", answer(200, stream, "data: "+strings.Repeat("[", 500_000)+"\n\n"), "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"no UTF-8", answer(200, stream, "data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\"}}]}\n\ndata: [DONE]\n\n"), "a\ufffd", "no error"},
		{"an error in the stream", answer(200, stream, "data: "+complaint("boom", "no memory")+"\n\n"), "", "broken: an error in the stream: no memory | "},
		{"an error and the end at once", answer(200, stream, "data: "+complaint("boom", "no memory")+"\n\ndata: [DONE]\n\n"), "", "broken: an error in the stream: no memory | "},
		{"an error after a piece", answer(200, stream, "data: "+piece("The")+"\n\ndata: "+complaint("boom", canary)+"\n\n"), "The", "broken: an error in the stream | "},
		{"too long, in the stream", answer(200, stream, "data: "+complaint("context_length_exceeded", "")+"\n\n"), "", "too long: an error in the stream | larger context"},
		{"filtered", answer(200, stream, "data: "+stop("content_filter")+"\n\n"), "", "broken: the server's filter ended the reply | "},
		{"an error behind a gateway", answer(200, stream, "data: "+stop("error")+"\n\n"), "", "broken: the stream ended before the reply did | "},
		{"no key", answer(401, js, complaint("invalid_api_key", "Incorrect key.")), "", "refused: 401 Unauthorized: Incorrect key. | executive.llm.api_key"},
		{"wrong key", answer(403, html, page), "", "refused: 403 Forbidden | executive.llm.api_key"},
		{"no model", answer(404, js, complaint("model_not_found", "No such model.")), "", "no model: 404 Not Found: No such model. | executive.llm.model"},
		{"no such path", answer(404, "text/plain", "404 page not found"), "", "no model: 404 Not Found | executive.llm.model"},
		{"too many", answer(429, js, `{"error":"Slow down."}`), "", "busy: 429 Too Many Requests: Slow down. | wait"},
		{"no money", answer(429, js, complaint("insufficient_quota", "")), "", "busy: 429 Too Many Requests | the account has nothing left"},
		{"overloaded", answer(503, js, `{"detail":"Loading."}`), "", "busy: 503 Service Unavailable: Loading. | wait"},
		{"fails", answer(500, js, `{"message":"Boom."}`), "", "broken: 500 Internal Server Error: Boom. | "},
		{"a gateway without a server", answer(502, html, page), "", "broken: 502 Bad Gateway | "},
		{"cannot do it", answer(400, js, complaint("", "No schemas here.")), "", "unsupported: 400 Bad Request: No schemas here. | executive.llm.model"},
		{"repeats the prompt", answer(400, js, complaint("", "You asked: "+canary)), "", "unsupported: 400 Bad Request | executive.llm.model"},
		{"controls the terminal", answer(400, js, complaint("", `\u001b[2JNo.\nReally`)), "", "unsupported: 400 Bad Request: [2JNo. Really | executive.llm.model"},
		{"talks at length", answer(400, js, complaint("", strings.Repeat("é", 5000))), "", "unsupported: 400 Bad Request: " + strings.Repeat("é", 100) + " | executive.llm.model"},
		{"too long", answer(400, js, complaint("", "This model's maximum context length is 8192 tokens.")), "", "too long: 400 Bad Request: This model's maximum context length is 8192 tokens. | larger context"},
		{"too long by its size", answer(413, html, page), "", "too long: 413 Request Entity Too Large | larger context"},
		{"an odd status", answer(418, html, page), "", "bad answer: 418 I'm a teapot | executive.llm.host"},
		{"not changed", answer(304, js, ""), "", "bad answer: 304 Not Modified | executive.llm.host"},
		{"a long page with an error", answer(500, html, strings.Repeat(page, 10_000)), "", "broken: 500 Internal Server Error | "},
		{"gzip that nobody asked for", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			events(w, "\x1f\x8b\x08\x00")
		}, "", "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"sends round in circles", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/chat/completions?again", http.StatusTemporaryRedirect)
		}, "", "bad answer: redirects elsewhere | executive.llm.host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := serve(t, tt.handle)
			said, done, err := ask(t.Context(), e, secret(false))
			if said != tt.said || (err != nil) == (done != nil) {
				t.Errorf("says %q, %v, %v; want %q", said, done, err, tt.said)
			}
			check(t, e.Name(), err, tt.want)
		})
	}
}

// check compares an error with want, which is written as in the tables.
func check(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil {
		if want != "no error" {
			t.Errorf("no error; want %s", want)
		}
		return
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("%v is no *llm.Error", err)
	}
	told := strings.ReplaceAll(strings.TrimPrefix(e.Error(), name+": "), " (model parrot)", "")
	says, cure, _ := strings.Cut(want, " | ")
	if told != says || cure == "" && e.Cure != "" || !strings.Contains(e.Cure, cure) {
		t.Errorf("%s | %s\nwant\n%s", told, e.Cure, want)
	}
	if e.Engine != name {
		t.Errorf("engine is %q, want %q", e.Engine, name)
	}
	if all := fmt.Sprintf("%v %+v %#v", err, e, e.Err); strings.Contains(all, "pier nineteen") {
		t.Errorf("repeats the prompt: %s", all)
	}
}

// TestEndlessReplies: a server that never stops is stopped long before it has sent enough to fill
// the memory.
func TestEndlessReplies(t *testing.T) {
	const most = 64 << 20 // how many bytes a server can send at most: twice the limit
	for _, tt := range []struct {
		name, kind, unit string
		whole            bool
		want             string
	}{
		{"a line of 10 GB", "text/event-stream", "data: " + strings.Repeat("a", 1<<16), false, "bad answer: sent a line of more than 1048576 bytes | executive.llm.host"},
		{"an event of 10 GB", "text/event-stream", "data: " + strings.Repeat("a", 1<<10) + "\n", false, "bad answer: sent a reply of more than 33554432 bytes | executive.llm.host"},
		{"10 GB of comments", "text/event-stream", ": " + strings.Repeat("a", 1<<10) + "\n\n", false, "bad answer: sent a reply of more than 33554432 bytes | executive.llm.host"},
		{"a whole reply of 10 GB", "application/json", strings.Repeat("a", 1<<16), true, "bad answer: sent a reply of more than 33554432 bytes | executive.llm.host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sent atomic.Int64
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				for sent.Load() < 10<<30 {
					n, err := io.WriteString(w, tt.unit)
					if sent.Add(int64(n)); err != nil {
						return
					}
				}
			})
			_, _, err := ask(t.Context(), e, secret(tt.whole))
			check(t, e.Name(), err, tt.want)
			if n := sent.Load(); n > most {
				t.Errorf("the server got rid of %d bytes", n)
			}
		})
	}
}

// TestRedirects: a server may redirect to itself, and nowhere else.
func TestRedirects(t *testing.T) {
	var strangers atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		strangers.Add(1)
		events(w, piece("Tell me more."), stop("stop"), done)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", stranger.Close)
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, _, err := ask(t.Context(), e, secret(false))
	check(t, e.Name(), err, "bad answer: redirects elsewhere | executive.llm.host")
	if _, err := e.Probe(t.Context()); err == nil || strangers.Load() != 0 {
		t.Errorf("probing: %v; the stranger was asked %d times", err, strangers.Load())
	}
	e = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/elsewhere" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte(canary)) {
			t.Error("the prompt was lost on the way")
		}
		events(w, piece("The"), stop("stop"), done)
	})
	if said, _, err := ask(t.Context(), e, secret(false)); said != "The" || err != nil {
		t.Errorf("on the same server: %q, %v", said, err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	e := engine(t, openai.Config{Host: server.URL, Model: "parrot"})
	_, _, err := ask(t.Context(), e, secret(false))
	told, ok := errors.AsType[*llm.Error](err)
	if !ok || told.Fault != llm.Unreachable || told.Model != "" || !strings.Contains(told.Cure, server.Listener.Addr().String()) {
		t.Errorf("fails with %v, %+v", err, told)
	}
	if _, err := e.Probe(t.Context()); !errors.Is(err, told.Err) && err == nil {
		t.Errorf("probing fails with %v", err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it would log the error that is checked here
	secure.StartTLS()
	defer testkit.Finish(t, testkit.Patience, "the end of the server", secure.Close)
	e = engine(t, openai.Config{Host: secure.URL, Model: "parrot"})
	_, _, err = ask(t.Context(), e, secret(false))
	if told, ok := errors.AsType[*llm.Error](err); !ok || told.Fault != llm.Unreachable {
		t.Errorf("a server that nobody vouches for: %v", err)
	}
	e = serve(t, http.NotFound)
	e = engine(t, openai.Config{Host: strings.Replace(strings.TrimPrefix(e.Name(), "openai at "), "127", "https://127", 1), Model: "parrot"})
	_, _, err = ask(t.Context(), e, secret(false))
	check(t, e.Name(), err, "bad answer: http: server gave HTTP response to HTTPS client | begin executive.llm.host with http://")
}

// TestProbeFaults: an answer that is not a list of models is an error, not an empty list.
func TestProbeFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"a page", answer(200, "text/html", "<html>"), "bad answer: sent a web page | executive.llm.host"},
		{"no list", answer(200, "application/json", `{"models":[]}`), "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"null", answer(200, "application/json", `null`), "bad answer: the answer does not follow the protocol | executive.llm.host"},
		{"no key", answer(401, "application/json", `{}`), "refused: 401 Unauthorized | executive.llm.api_key"},
		{"half", answer(200, "application/json", `{"data":[{"id":`), "broken: the stream ended before the reply did | "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := serve(t, tt.handle)
			_, err := e.Probe(t.Context())
			check(t, e.Name(), err, tt.want)
		})
	}
}

// A slowServer is a transport whose replies come from a script, in simulated time.
type slowServer struct {
	serve func(w *io.PipeWriter)
	done  sync.WaitGroup
}

func (s *slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	context.AfterFunc(r.Context(), func() { body.CloseWithError(r.Context().Err()) })
	s.done.Go(func() { s.serve(w) })
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

// TestSlowServers: how long a request takes, to the millisecond.
func TestSlowServers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		serve func(w *io.PipeWriter)
		said  string
		want  string
		took  time.Duration
	}{
		{"one byte in five seconds", func(w *io.PipeWriter) {
			for {
				if _, err := io.WriteString(w, ":"); err != nil {
					return
				}
				time.Sleep(5 * time.Second)
			}
		}, "", "stalled: took longer than 30m0s | smaller model", 30 * time.Minute},
		{"nothing more after the reason", func(w *io.PipeWriter) {
			fmt.Fprintf(w, "data: %s\n\ndata: %s\n\n", piece("The"), stop("stop"))
		}, "The", "no error", 2 * time.Second},
		{"never hangs up", func(w *io.PipeWriter) {
			fmt.Fprintf(w, "data: %s\n\ndata: %s\n\n", piece("The"), done)
		}, "The", "no error", 50 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &slowServer{serve: tt.serve}
				e, err := openai.New(openai.Config{Host: "localhost", Model: "parrot", Transport: server})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				said, _, err := ask(t.Context(), e, secret(false))
				if took := time.Since(began); said != tt.said || took != tt.took {
					t.Errorf("says %q after %v, want %q after %v", said, took, tt.said, tt.took)
				}
				check(t, e.Name(), err, tt.want)
				server.done.Wait()
			})
		})
	}
}

// FuzzStream: whatever a server sends, a stream ends once, with a Done or a typed error, and no
// delta is more than one of text, thought and call.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: "+piece("The")+"\n\ndata: "+stop("stop")+"\n\ndata: [DONE]\n\n"), 7)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"content\":\"<think>\"}}]}\n\n"), 1)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n"), 9)
	f.Add([]byte(": a\r\n\r\nevent: b\ndata:[DONE]\r\n\r\n"), 3)
	f.Add([]byte("data: {\"error\":{\"message\":\"a\"}}\n\n"), 100)
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		if n < 1 {
			t.Skip()
		}
		e, err := openai.New(openai.Config{Host: "localhost", Model: "parrot", Transport: dripping{raw, n}})
		if err != nil {
			t.Fatal(err)
		}
		ends := 0
		for d, err := range e.Stream(t.Context(), hello) {
			if ends > 0 {
				t.Fatalf("goes on after its end: %+v, %v", d, err)
			}
			_, typed := errors.AsType[*llm.Error](err)
			switch {
			case err != nil && (!typed || d != llm.Delta{}):
				t.Errorf("ends with %+v, %v", d, err)
			case err != nil || d.Done != nil:
				ends++
			case d.Text != "" && d.Thinking != "" || d.Call != nil && d.Text+d.Thinking != "":
				t.Errorf("delta %+v is more than one of text, thinking and call", d)
			}
		}
		if ends != 1 {
			t.Errorf("ends %d times", ends)
		}
	})
}

// dripping is a transport whose reply comes n bytes at a time.
type dripping struct {
	raw []byte
	n   int
}

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.NopCloser(&drip{bytes.NewReader(d.raw), d.n})
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

type drip struct {
	*bytes.Reader
	n int
}

func (d *drip) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(len(p), d.n)]) }
