// Package llm defines requests to language models: a [Request], which a [Service] answers as a
// stream. It knows words, not rooms or people. Each engine is a package below it:
// [earshot/llm/ollama], [earshot/llm/openai], and the scripted model in [earshot/llm/llmtest],
// which can also be chosen in the configuration.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
)

// A Role is the author of a message in a prompt.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Result    Role = "tool" // the result of a call
)

// A Message is one message of a prompt.
type Message struct {
	Role Role
	Text string

	// Images are the pictures that belong to Text. A model that cannot see, or may not be able to,
	// gets none of them. See [WithoutImages].
	Images []Image

	// AltText, if set, replaces Text if the model gets no pictures, whichever message of the
	// request they are in.
	AltText string

	Calls []Call // of an assistant: its calls, after it had said Text
	Call  string // of a result: the ID of the call
}

// A Tool is something that a model may call. If the model cannot call tools by itself, the engine
// lets it choose by a schema; see [EmulateTools].
type Tool struct {
	Name        string          // letters, digits and underscores
	Description string          // for the model
	Parameters  json.RawMessage // a JSON schema of type object
}

// A Call is a call of a tool by a model. It comes from the engine's protocol, and is never parsed
// from prose.
type Call struct {
	ID   string // unique within the reply
	Tool string // may be a tool that was not offered

	// Arguments is a JSON object that the model wrote, with any content. It is nil if the model
	// wrote something else: then nothing is done, and the model is told.
	Arguments json.RawMessage
}

// A Priority orders requests for the same engine. A higher one goes first, and parks a lower one
// that is running when no slot is free.
type Priority int

// The priorities, lowest first.
const (
	Memory Priority = iota
	Reasoning
	ForTool
	ReplyToAgent
	ReplyToPerson
)

// A ReplaceableService can be replaced by another. A caller that makes several requests to the
// same service uses Current.
type ReplaceableService interface {
	Service

	// Current returns the service in use now.
	Current() Service
}

// A Request is one question to a model. A service does not change it.
type Request struct {
	Engine   string // the engine to ask first; empty means the first
	Model    string // of that engine; empty means the engine's own
	Messages []Message
	Tools    []Tool // that the model may call

	// Shown says that the tools only appear in the prompt, so that it begins like one in which they
	// may be called. A model that chooses by a schema is shown none.
	Shown bool

	// MustSee says that the request is useless without its pictures: if no model can look at them,
	// it fails as [Unsupported].
	MustSee bool

	Temperature float64
	MaxTokens   int  // of the reply; 0 means the engine's default, never unlimited
	Think       bool // let a model that can think do so; its thoughts come separately

	// Schema, if set, is a JSON schema that the whole reply must match.
	Schema json.RawMessage

	// Whole requests the reply in one piece, for a server whose streaming is broken.
	Whole bool

	Priority Priority

	Origin Origin
}

// Shorten returns r without the older half of its dialogue, counted in bytes, since one message
// may be longer than all others. The first message and the last keep messages always stay. It
// reports whether anything was left out.
func (r *Request) Shorten(last int) (short *Request, shorter bool) {
	end := len(r.Messages) - last
	if end <= 1 {
		return r, false
	}
	all := 0
	for _, m := range r.Messages[1:end] {
		all += len(m.Text)
	}
	from := 1
	for left := all; from < end && (from == 1 || left > all/2 || r.Messages[from].Role != User); from++ { // no answer without its question
		left -= len(r.Messages[from].Text)
	}
	out := *r
	out.Messages = slices.Concat(r.Messages[:1], r.Messages[from:])
	return &out, true
}

// An Origin is the purpose of a request, for tracing or for replaying records. No engine receives
// it.
type Origin struct {
	Turn  string // of a reply
	Agent string // who asks

	Thought  string   // of a thought, or of the findings from it
	Cause    string   // of the thought
	About    string   // what the reply answers, or the thought is about
	Evidence []string // what a finding can refer to, in order

	Unasked bool // nobody waits for the result
}

// A Delta is a piece of a reply. At most one of Text, Thinking and Call is set, and never part of
// a rune. An empty delta of an engine is a sign that the model is writing, perhaps a call; a
// [Ladder] passes none on.
type Delta struct {
	Text     string
	Thinking string

	// Call is complete. The calls of a reply come after all its text, at its end; those of a reply
	// that breaks off are never passed on.
	Call *Call

	// Done is set on the last delta of a complete reply, and on no other. A stream without it has
	// failed, and yields an error.
	Done *Done
}

// Done describes the end of a complete reply.
type Done struct {
	Truncated    bool // it ended because MaxTokens was reached
	PromptTokens int
	ReplyTokens  int
}

// A Service generates replies. It may be used from many goroutines.
type Service interface {
	// Stream yields a reply piece by piece as it is generated. Ending ctx,
	// or breaking out of the loop, abandons the request; its connection is
	// released before the range statement completes. An error is yielded at
	// most once, last, with an empty Delta; it is an [*Error], or the cause
	// of ctx.
	Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error]
}

// An Engine is a service that can describe itself.
type Engine interface {
	Service

	// Name is the engine's name for people, such as "ollama at
	// localhost:11434".
	Name() string

	// Probe asks the server for its version and models. It takes as long as ctx allows, and its
	// error has the cure.
	Probe(ctx context.Context) (Status, error)
}

// A Status is an engine's description of itself.
type Status struct {
	Version string
	Models  []Model // installed, the newest first
}

// A Model is a model that an engine has.
type Model struct {
	Name                    string
	Bytes                   int64
	Tools, Thinking, Vision bool // its abilities, if the engine reports them
}

// A Loader can say whether it must load a model before it answers, which may take a minute of
// silence. It is optional; without it, silence always counts as a stall.
type Loader interface {
	// Loads reports whether a model is not loaded; an empty name means the engine's own. It may ask
	// the server, as long as ctx allows; an unknown model counts as loaded.
	Loads(ctx context.Context, model string) bool
}

// A Seer can say whether a model looks at pictures. It is optional; an engine without it is shown
// none.
type Seer interface {
	// Sees reports whether a model can see; an empty name means the engine's own. It may ask the
	// server, once, as long as ctx allows; unknown counts as no.
	Sees(ctx context.Context, model string) bool
}

// A Progress is the progress of a download.
type Progress struct {
	Status    string `json:"status"`    // what is being done, in words
	Completed int64  `json:"completed"` // bytes
	Total     int64  `json:"total"`     // as far as known; it grows
}

// A Puller can download models. It is optional; callers test for it.
type Puller interface {
	// Pull has the engine download a model, or the rest of it, and reports the progress on the
	// caller's goroutine. It returns when the model is there, with an [*Error] if it cannot be had,
	// or with the cause of ctx.
	Pull(ctx context.Context, model string, tell func(Progress)) error
}

// An Unloader can unload a model, which is the only cure for one that is wedged. It is optional;
// callers test for it.
type Unloader interface {
	Unload(ctx context.Context, model string) error
}
