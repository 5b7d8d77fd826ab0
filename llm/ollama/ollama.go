// Package ollama asks a model behind an Ollama server.
//
// It uses the types of [github.com/ollama/ollama/api], and that package's client for the small
// requests. It reads the stream of a reply itself: the client's Chat ends without an error when
// the server dies in mid-sentence, quotes the reply in its errors, and allocates 8 MB for each.
//
// Known behaviour of the server, and how it is handled here:
//
//   - A stream may end without saying that the reply did. That is
//     [llm.Broken], never an end. See [Engine.Stream].
//   - A cancelled reply may leave the model wedged: later requests wait for
//     ever. The engine cannot know; the ladder above it notices that no first
//     token comes, calls [Engine.Unload] and asks again.
//   - A model that can think does, unless told not to. The request always says
//     which, by what /api/show says of the model, and thoughts that stand in
//     the text nevertheless are parted from it by [llm.Thoughts].
//   - Tools are offered only to a model that /api/show says can call them; it
//     would be refused otherwise. Another chooses by a schema, as [llm.EmulateTools]
//     asks it; if it does not even try, it is asked again without. A call is what the server says is one: a tag in the text is text.
//   - Pictures are sent only to a model that /api/show says can see: another is
//     sent none, and the server would silently leave them out.
//   - A prompt that is too long is cut silently. It is refused instead, as
//     [llm.TooLong]; so is shifting the context in mid-reply, after which the
//     model has forgotten its instructions. The reply ends as truncated there.
//   - With several slots a request gets the free one that has read most of how
//     it begins, and what is read twice costs a second. So what should keep a slot
//     of its own begins with words of its own. OLLAMA_MULTIUSER_CACHE, by which
//     slots share what they have read, was seen to end the runner (0.17.4).
//   - Options that change how the model is loaded, such as num_ctx, reload it
//     when they change. They are never sent; they belong to the server and to
//     the model's own file.
//
// How long to wait for a token is not decided here, since only the caller knows whether somebody
// is listening. A server that sends one byte in five seconds is read as long as the context lives.
package ollama

import (
	"cmp"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// Config says which server, and which model there. Only Model is needed.
type Config struct {
	// Host is the server as people write it: "localhost", "10.0.0.7:11434",
	// "https://models.example.org/ollama". The default port is Ollama's, or that of https. Empty
	// means this machine.
	Host string

	// Model answers requests that name none.
	Model string

	// Tools is how the model calls tools; empty means [llm.Auto], which depends on what the server
	// reports about it.
	Tools llm.ToolUse

	// Client replaces the connection to the server. Its Transport is used
	// within the same limits; redirects are refused here too.
	Client *http.Client
}

// An Engine is one Ollama server. It may be used from many goroutines, and
// opens nothing until it is asked something.
type Engine struct {
	config Config
	base   *url.URL
	http   *http.Client
	client *api.Client

	mu           sync.Mutex
	capabilities map[string]modelCapabilities // by model, as asked; see [Engine.ability]
	answered     map[string]time.Time         // when each last answered
}

// New returns the engine of c. If the host is invalid, the error is a fault of the key host; it
// does not check whether anybody answers there.
func New(c Config) (*Engine, error) {
	base, err := parseHost(c.Host)
	if err != nil {
		return nil, err
	}
	client := guarded(c.Client)
	return &Engine{
		config:       c,
		base:         base,
		http:         client,
		client:       api.NewClient(base, client),
		capabilities: make(map[string]modelCapabilities),
		answered:     make(map[string]time.Time),
	}, nil
}

// Name returns the engine's name for people, without any password.
func (e *Engine) Name() string { return "ollama at " + e.base.Host }

// Close closes idle connections. The engine can be used again.
func (e *Engine) Close() { e.http.CloseIdleConnections() }

// model returns the model for a request.
func (e *Engine) model(asked string) string { return cmp.Or(asked, e.config.Model) }
