package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// The bounds of what an engine's server may send.
const (
	MaxLine   = 1 << 20  // bytes; a token takes some 300, a list of 2,000 models less than this
	MaxReply  = 32 << 20 // bytes; 100,000 tokens or more, more than any model says
	MaxHeader = 64 << 10 // bytes; servers send some hundred, gateways some thousand

	maxSentence = 200 // bytes of a server's text that are quoted
)

// Violations by a server.
var (
	ErrLine     = fmt.Errorf("sent a line of more than %d bytes", MaxLine)
	ErrReply    = fmt.Errorf("sent a reply of more than %d bytes", MaxReply)
	ErrRedirect = errors.New("redirects elsewhere")
)

// NewTransport returns connections to an engine's server. HTTP/2 stays off, so that a cut closes the
// connection, which is what such servers watch. A proxy from the environment is never used for this
// machine: see [http.ProxyFromEnvironment].
func NewTransport() *http.Transport {
	const dialTime = 5 * time.Second // a running server accepts within milliseconds, over a bad line within this
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSHandshakeTimeout:    dialTime,
		MaxResponseHeaderBytes: MaxHeader,
		MaxIdleConnsPerHost:    4,           // as many as most machines have slots
		IdleConnTimeout:        time.Minute, // an idle connection is kept between two turns of a conversation
		DisableCompression:     true,        // a small reply must not become a large one here
	}
}

// NobodyAnswers reports whether err says that there is no server.
func NobodyAnswers(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	return name || ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// Printable returns the beginning of a server's text as one line that can be printed.
func Printable(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxSentence)], "")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
