package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
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

// ask sends a request, and returns the body of the answer, unless that is invalid. The body has to be
// closed, and fails where it is too long.
func (e *Engine) ask(ctx context.Context, path string, params any, stream bool) (io.ReadCloser, error) {
	method, body := http.MethodGet, []byte(nil)
	header := http.Header{"Accept": {"application/json"}, "User-Agent": {"earshot"}}
	if params != nil {
		var err error
		if body, err = json.Marshal(params); err != nil {
			return nil, err
		}
		method, header["Content-Type"] = http.MethodPost, []string{"application/json"}
	}
	if e.config.Key != "" {
		header.Set("Authorization", "Bearer "+e.config.Key.Reveal())
	}
	r, err := http.NewRequestWithContext(ctx, method, e.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	resp, err := e.http.Do(r)
	if err != nil {
		return nil, err
	}
	if err := check(resp, stream); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return http.MaxBytesReader(nil, resp.Body, llm.MaxReply), nil
}

// fetch sends a request, and parses the answer, which it also returns.
func (e *Engine) fetch(ctx context.Context, path string, params, into any) (raw json.RawMessage, err error) {
	body, err := e.ask(ctx, path, params, false)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	page, err := io.ReadAll(body)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(page)).Decode(&raw) // unlike Unmarshal, it knows a half answer from a wrong one
	}
	if err != nil {
		return nil, err
	}
	return raw, unmarshal(raw, into)
}

// check returns what is wrong with an answer before it is read.
func check(resp *http.Response, stream bool) error {
	if resp.StatusCode >= http.StatusMultipleChoices {
		return newStatus(resp)
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case kind == "text/html":
		return errPage
	case stream && kind == "application/json":
		if s := newStatus(resp); s.text != "" { // some gateways answer so with a successful status
			s.code = 0
			return s
		}
		return errWhole
	}
	return nil
}
