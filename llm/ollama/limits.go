package ollama

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"time"

	"earshot/llm"
)

// headerTime is the longest wait for the beginning of an answer. Ollama's headers come with the
// first token, and those of a reply in one piece with the last, so this matters only to callers
// without a ladder: it must outlast a model that is loaded from a slow disk and then speaks for
// minutes.
const headerTime = 15 * time.Minute

// guarded returns a client that refuses redirects and enforces the limits, on the connections of
// base or on its own.
func guarded(base *http.Client) *http.Client {
	client := new(http.Client)
	if base != nil {
		*client = *base
	}
	if client.Transport == nil {
		own := llm.NewTransport()
		own.ResponseHeaderTimeout = headerTime
		client.Transport = own
	}
	client.Transport = limits{client.Transport}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return llm.ErrRedirect }
	return client
}

// limits is a transport with bounded replies, by line and in total.
type limits struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l limits) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &limited{ReadCloser: resp.Body, endless: strings.HasSuffix(r.URL.Path, pullPath)}
	return resp, nil
}

// CloseIdleConnections implements what [http.Client.CloseIdleConnections] looks for.
func (l limits) CloseIdleConnections() {
	if c, ok := l.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// limited is a body that fails when it exceeds a limit.
type limited struct {
	io.ReadCloser
	endless bool // a download reports progress for as long as it takes
	line    int  // bytes since the last line break
	total   int
	err     error
}

// Read implements [io.Reader]. What exceeds a limit is not passed on.
func (l *limited) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.ReadCloser.Read(p)
	if l.err = l.count(p[:n]); l.err != nil {
		return 0, l.err
	}
	return n, err
}

// count records that p was read, and returns the limit that is exceeded.
func (l *limited) count(p []byte) error {
	l.total += len(p)
	var long error
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		long = cmp.Or(long, l.grow(i))
		l.line, p = 0, p[i+1:]
	}
	long = cmp.Or(long, l.grow(len(p)))
	if l.total > llm.MaxReply && !l.endless {
		return llm.ErrReply
	}
	return long
}

// grow makes the line n bytes longer.
func (l *limited) grow(n int) error {
	if l.line += n; l.line > llm.MaxLine {
		return llm.ErrLine
	}
	return nil
}
