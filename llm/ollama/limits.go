package ollama

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	maxLine  = 1 << 20  // bytes; a token takes some 150, a list of 2,000 models less than this
	maxReply = 32 << 20 // bytes; 200,000 tokens, more than any model says

	maxHeader = 64 << 10 // bytes; Ollama sends a few hundred

	dialTime = 5 * time.Second // a running server accepts within milliseconds, over a bad line within this

	// headerTime is the longest wait for the beginning of an answer. Ollama's headers come with the
	// first token, and those of a reply in one piece with the last, so this matters only to callers
	// without a ladder: it must outlast a model that is loaded from a slow disk and then speaks for
	// minutes.
	headerTime = 15 * time.Minute

	idleTime = time.Minute // an idle connection is kept between two turns of a conversation
)

// Violations by a server.
var (
	errLine     = fmt.Errorf("sent a line of more than %d bytes", maxLine)
	errReply    = fmt.Errorf("sent a reply of more than %d bytes", maxReply)
	errRedirect = errors.New("redirects elsewhere")
)

// guarded returns a client that refuses redirects and enforces the limits, on the connections of
// base or on its own.
func guarded(base *http.Client) *http.Client {
	client := new(http.Client)
	if base != nil {
		*client = *base
	}
	transport := client.Transport
	if transport == nil {
		transport = newTransport()
	}
	client.Transport = limits{transport}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return errRedirect }
	return client
}

// newTransport returns connections of our own. HTTP/2 stays off, so that a cut closes the
// connection, which is what Ollama watches. A proxy from the environment is never used for this
// machine: see [http.ProxyFromEnvironment].
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    4, // as many as most machines have slots
		IdleConnTimeout:        idleTime,
		DisableCompression:     true,
	}
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
	if l.total > maxReply && !l.endless {
		return errReply
	}
	return long
}

// grow makes the line n bytes longer.
func (l *limited) grow(n int) error {
	if l.line += n; l.line > maxLine {
		return errLine
	}
	return nil
}
