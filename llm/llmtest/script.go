// Package llmtest is a language model that follows a script. It is a correct [llm.Engine]: it
// takes time, stops when told to, respects MaxTokens and counts its tokens. It needs no server, so
// tests use it, the demonstration runs on it, and people without a model can choose it in the
// configuration (provider: script). [Load] documents the file.
//
// A [Trouble] simulates what can go wrong with a model, for tests.
package llmtest

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"earshot/llm"
)

// maxSeen is how many requests a script remembers: more than a test makes, and little enough for a
// daemon that runs on one for months.
const maxSeen = 64

// A Script is the model. The first matching rule answers; without one, Reply does. Its exported
// fields must not change after its first use.
type Script struct {
	Label    string        // its name for people; empty means "script"
	Reply    string        // without a matching rule; see [Use]
	Thinking string        // before Reply, if the request asks for it
	Every    time.Duration // from one piece to the next; 0 is as fast as they are read
	Rules    []Rule

	// Toolless makes it a model that cannot call tools by itself: it is asked as [llm.EmulateTools]
	// does, and chooses the first of several calls.
	Toolless bool

	// Vision makes it a model that looks at pictures: it is shown them, and a [Rule] can require a
	// number. Without it, it is shown none.
	Vision bool

	// Troubles affect the first requests, one each and in order. The zero Trouble has no effect.
	Troubles []Trouble

	mu       sync.Mutex
	asked    int         // requests so far
	fitted   map[int]int // how often each rule matched, by index
	seen     []llm.Request
	unloaded int
	wedged   bool
}

// A Use is the purpose of a request. Without a matching rule, a request for a reply gets the
// script's own; there are no default thoughts or findings.
type Use string

// The uses. An [llm.Reasoning] request of an agent is for a thought, or with a schema for its
// findings; one of [llm.Memory] with a schema is for what is to be remembered.
const (
	ForReply    Use = ""
	ForThought  Use = "thought"
	ForFindings Use = "findings"
	ForMemory   Use = "memory"
)

// use returns the use of req.
func use(req *llm.Request) Use {
	switch {
	case req.Priority == llm.Memory && req.Schema != nil:
		return ForMemory
	case req.Priority != llm.Reasoning:
		return ForReply
	case req.Schema != nil:
		return ForFindings
	}
	return ForThought
}

// A Rule is an answer to a message of the user, or to the result of a call; or a thought.
type Rule struct {
	For   Use
	When  string // a part of the last message of the user, for uses other than replies of the last message of all, ignoring case; empty matches every message
	Agent string // if set, a message of the system says "You are NAME." with this name

	// Result, if set, is a part of the last message of all, which is the result of a call, ignoring
	// case. If it is nil, the rule does not match after a call.
	Result *string

	// Pictures, if set, is the number of pictures in the request.
	Pictures *int

	Reply    string
	Thinking string
	Calls    []llm.Call // after Reply; without their IDs

	// Replies, if any, replace those three, one each time the rule matches, in rotation.
	Replies []Reply

	Every   time.Duration // 0 means as the script
	Trouble Trouble       // affects this answer each time
}

// A Reply is one of several answers of a [Rule].
type Reply struct {
	Text     string
	Thinking string
	Calls    []llm.Call
}

// A Trouble is what goes wrong with an answer after some of its pieces.
type Trouble struct {
	After int   // pieces that still come, including thinking
	Err   error // ends the stream
	Hang  bool  // nothing more comes until the reader leaves
	Wedge bool  // like Hang, and also for every later request until Unload
	Lie   bool  // the stream ends as if complete, but without a Done
}

// none reports whether nothing goes wrong.
func (t Trouble) none() bool { return t.Err == nil && !t.Hang && !t.Wedge && !t.Lie }

// Name implements [llm.Engine].
func (s *Script) Name() string {
	if s.Label == "" {
		return "script"
	}
	return s.Label
}

// Probe implements [llm.Engine]. A script is always available.
func (s *Script) Probe(ctx context.Context) (llm.Status, error) {
	if ctx.Err() != nil {
		return llm.Status{}, context.Cause(ctx)
	}
	return llm.Status{Version: "1", Models: []llm.Model{{Name: "script", Tools: !s.Toolless, Thinking: true, Vision: s.Vision}}}, nil
}

// Sees implements [llm.Seer].
func (s *Script) Sees(context.Context, string) bool { return s.Vision }

// Unload implements [llm.Unloader]: a wedged script recovers, but requests that already wait for
// it go on waiting.
func (s *Script) Unload(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unloaded++
	s.wedged = false
	return nil
}

// Unloaded returns how often the model was unloaded.
func (s *Script) Unloaded() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unloaded
}

// Seen returns the last requests as the model got them, the oldest first.
func (s *Script) Seen() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Stream implements [llm.Service].
func (s *Script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if req.MustSee && !s.Vision {
			yield(llm.Delta{}, &llm.Error{Fault: llm.Unsupported, Engine: s.Name(), Err: llm.ErrNoVision})
			return
		}
		req := llm.FitImages(req, s.Vision)
		rule, trouble := s.take(req)
		rule = offered(rule, req.Tools)
		if asked, choice := s.question(req); choice {
			req, rule, yield = asked, choosing(rule), chosen(yield)
		}
		pieces, cut := deltas(rule, req)
		for i, d := range pieces {
			if !trouble.none() && i >= trouble.After {
				break
			}
			if err := wait(ctx, rule.Every); err != nil {
				yield(llm.Delta{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		s.end(ctx, trouble, llm.Done{Truncated: cut, PromptTokens: words(req), ReplyTokens: len(pieces)}, yield)
	}
}

// end ends a stream: normally, or as the trouble says.
func (s *Script) end(ctx context.Context, trouble Trouble, done llm.Done, yield func(llm.Delta, error) bool) {
	switch {
	case ctx.Err() != nil:
		yield(llm.Delta{}, context.Cause(ctx))
	case trouble.none():
		yield(llm.Delta{Done: &done}, nil)
	case trouble.Lie:
	case trouble.Err != nil:
		yield(llm.Delta{}, trouble.Err)
	default:
		<-ctx.Done()
		yield(llm.Delta{}, context.Cause(ctx))
	}
}

// question returns req in the form for the model, and whether it is to choose.
func (s *Script) question(req *llm.Request) (asked *llm.Request, choice bool) {
	if !s.Toolless {
		return req, false
	}
	return llm.EmulateTools(req)
}

// take records a request and returns the answer to it.
func (s *Script) take(req *llm.Request) (Rule, Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := s.rule(req)
	trouble := rule.Trouble
	if s.asked < len(s.Troubles) {
		trouble = s.Troubles[s.asked]
	}
	s.asked++
	question, _ := s.question(req)
	s.seen = append(s.seen, copied(question))
	if len(s.seen) > maxSeen {
		s.seen = slices.Delete(s.seen, 0, 1)
	}
	if s.wedged {
		trouble = Trouble{Hang: true}
	}
	s.wedged = s.wedged || trouble.Wedge
	return rule, trouble
}

// rule returns the answer to req.
func (s *Script) rule(req *llm.Request) Rule {
	for i, r := range s.Rules {
		if !r.fits(req) {
			continue
		}
		if n := len(r.Replies); n > 0 {
			if s.fitted == nil {
				s.fitted = make(map[int]int)
			}
			said := r.Replies[s.fitted[i]%n]
			s.fitted[i]++
			r.Reply, r.Thinking, r.Calls = said.Text, said.Thinking, said.Calls
		}
		r.Every = cmp.Or(r.Every, s.Every)
		return r
	}
	switch use(req) {
	case ForThought:
		return Rule{Every: s.Every}
	case ForFindings:
		return Rule{Reply: `{"findings":[]}`, Every: s.Every}
	case ForMemory:
		return Rule{Reply: `{"summary":"","facts":[],"replaces":[]}`, Every: s.Every}
	}
	return Rule{Reply: s.Reply, Thinking: s.Thinking, Every: s.Every}
}

// copied returns a copy of req that the caller cannot change.
func copied(req *llm.Request) llm.Request {
	c := *req
	c.Messages = slices.Clone(req.Messages)
	c.Tools = slices.Clone(req.Tools)
	c.Schema = slices.Clone(req.Schema)
	return c
}

// wait waits for the next piece.
func wait(ctx context.Context, every time.Duration) error {
	if every <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(every):
		return nil
	}
}
