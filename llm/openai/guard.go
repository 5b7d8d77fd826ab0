package openai

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"earshot/llm"
)

const (
	maxFault = 64 << 10 // bytes of an error page; only a sentence is used

	// linger is how long the end of a stream may take after [DONE]. It comes in the same packet; a
	// server that waits costs a new connection.
	linger = 50 * time.Millisecond
)

// Violations by a server, besides those of all.
var (
	errPage  = errors.New("sent a web page")
	errWhole = errors.New("does not stream")
)

// A transport sends a request again if the connection had been used before and ends without an
// answer: llama.cpp closes connections that it has promised to keep, also while the next prompt is
// on its way, which [http.Transport] does not mend. A prompt that the server reads twice does no
// harm.
type transport struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		used := false
		ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used = c.Reused }})
		resp, err := t.Transport.RoundTrip(r.WithContext(ctx))
		if err == nil || !used || r.GetBody == nil || ctx.Err() != nil {
			return resp, err
		}
		body, failed := r.GetBody()
		if failed != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = body
	}
}

// sameServer refuses redirects to another server, which would get the key and the prompt.
func sameServer(r *http.Request, via []*http.Request) error {
	const most = 3 // a path with a superfluous slash causes one
	if from := via[0].URL; len(via) > most || r.URL.Scheme != from.Scheme || r.URL.Host != from.Host {
		return llm.ErrRedirect
	}
	return nil
}

// A guard stands between the server and one request.
type guard struct {
	stream bool   // the reply comes as events
	cancel func() // ends the request, if it is a stream

	ended bool // the server said [DONE]
	start []byte
	line  int // bytes since the last line break
	total int
	body  io.ReadCloser
	err   error
}

// do passes the request on, without what it reveals about this machine, and refuses an invalid
// answer. It is a middleware of the library.
func (g *guard) do(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			r.Header.Del(name)
		}
	}
	r.Header.Set("User-Agent", "earshot")
	resp, err := next(r)
	if err != nil {
		return nil, err
	}
	if err := g.check(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	g.body, resp.Body = resp.Body, g
	return resp, nil
}

// check returns what is wrong with an answer before it is read.
func (g *guard) check(resp *http.Response) error {
	if resp.StatusCode >= http.StatusMultipleChoices {
		return newStatus(resp)
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case kind == "text/html":
		return errPage
	case g.stream && kind == "application/json":
		if s := newStatus(resp); s.text != "" { // some gateways answer so with a successful status
			s.code = 0
			return s
		}
		return errWhole
	}
	return nil
}

// Read implements [io.Reader]. What exceeds a limit is not passed on.
func (g *guard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.body.Read(p)
	if g.err = g.count(p[:n]); g.err != nil {
		return 0, g.err
	}
	return n, err
}

// Close implements [io.Closer]. It waits a moment for what follows [DONE], so that the connection
// can be reused.
func (g *guard) Close() error {
	if g.ended {
		defer time.AfterFunc(linger, g.cancel).Stop()
		io.CopyN(io.Discard, g.body, 1<<10) // the end of the last chunk is a few bytes
	}
	return g.body.Close()
}

// count records that p was read, and returns the limit that is exceeded. Only a stream has lines.
func (g *guard) count(p []byte) error {
	if g.total += len(p); g.total > llm.MaxReply {
		return llm.ErrReply
	}
	for g.stream {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		if err := g.grow(p[:i]); err != nil {
			return err
		}
		g.ended = g.ended || final(g.start)
		g.line, g.start, p = 0, g.start[:0], p[i+1:]
	}
	if g.stream {
		return g.grow(p)
	}
	return nil
}

// grow makes the line longer.
func (g *guard) grow(p []byte) error {
	const enough = len("data: [DONE]\r") + 1 // enough to recognise that line
	g.start = append(g.start, p[:min(len(p), max(0, enough-len(g.start)))]...)
	if g.line += len(p); g.line > llm.MaxLine {
		return llm.ErrLine
	}
	return nil
}

// final reports whether a line says that no more events come.
func final(line []byte) bool {
	data, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\r")), []byte("data:"))
	return ok && string(bytes.TrimPrefix(data, []byte(" "))) == "[DONE]"
}
