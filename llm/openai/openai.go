// Package openai asks a model behind any server that speaks OpenAI's protocol for chats:
// llama.cpp, vLLM, LM Studio, LocalAI, a gateway, OpenAI itself. What is sent is in request.go, what
// comes back in stream.go and probe.go; what a server may do to us is decided here:
//
//   - A stream that ends without saying why, and without [DONE], is
//     [llm.Broken], never an end.
//   - Thoughts come apart, whether the server parts them (reasoning_content,
//     reasoning) or leaves them in the text in tags, which [llm.Thoughts]
//     takes out. Whether a model thinks cannot be asked in this protocol: a
//     request that wants no thoughts may get some nevertheless.
//   - Calls of tools come in pieces, and are put together and bounded by
//     [llm.Calls]. A server that refuses tools is asked once more, for a choice
//     by schema, and knows no tools from then on; see [llm.EmulateTools]. One that
//     does not keep to that either is asked once more without tools.
//   - Many servers put the prompt into the chat template of the model, and some
//     templates refuse a system message behind the first, two messages of one role in
//     a row, or any system message. The prompt is then sent again at once in another
//     [llm.Form], which the model is asked in from then on.
//   - Pictures are sent only where the configuration or the server's list says that
//     the model can see. A server that refuses them nevertheless is [llm.Unsupported],
//     and its model is shown none from then on.
//   - Nothing else is asked again: that is for [llm.Ladder], as is how long to
//     wait for a token.
//   - A line, a reply and a request as a whole have limits. The server cannot
//     send us to another one, and is not told what machine this is.
//   - Nothing is taken from the environment but a proxy, and that never for
//     this machine.
package openai

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"earshot/internal/field"
	"earshot/llm"
)

// longest is how long one request may take, for callers without a ladder: it must outlast a slow
// model that thinks at length.
const longest = 30 * time.Minute

// Config says which server, and which model there. Host and Model are needed.
type Config struct {
	// Host is the server as people write it: "localhost:8080", "https://models.example.org/v1".
	// Without a path, /v1 is meant; without a scheme, http for a local or numbered machine and
	// https for a named one.
	Host string

	// Model answers requests that name none.
	Model string

	// Key is sent as a bearer token. Servers at home need none.
	Key field.Secret

	// Tools is how the model calls tools. Empty means [llm.Auto]: by itself, unless the server
	// refuses that; from then on by schema.
	Tools llm.ToolUse

	// Vision says that Model can look at pictures. The protocol has no place for that; some servers
	// report it in the list of their models.
	Vision bool

	// Transport replaces the connections to the server. Its replies are read within the same
	// limits.
	Transport http.RoundTripper
}

// An Engine is one server. It may be used from many goroutines, and opens
// nothing until it is asked something.
type Engine struct {
	config Config
	base   *url.URL
	http   *http.Client

	mu    sync.Mutex
	modes map[string]requestMode // by model, how it was last asked successfully
	sees  map[string]bool        // whether each looks at pictures, as far as known
}

// New returns the engine of c. It fails if the host is invalid; it does not check whether there is
// a server.
func New(c Config) (*Engine, error) {
	base, err := parseHost(c.Host)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: c.Transport, CheckRedirect: sameServer}
	if client.Transport == nil {
		client.Transport = transport{llm.NewTransport()}
	}
	return &Engine{
		config: c, base: base, http: client,
		modes: make(map[string]requestMode),
		sees:  make(map[string]bool),
	}, nil
}

// Name implements [llm.Engine].
func (e *Engine) Name() string { return "openai at " + e.base.Host }

// Close closes idle connections. The engine can be used again.
func (e *Engine) Close() { e.http.CloseIdleConnections() }
