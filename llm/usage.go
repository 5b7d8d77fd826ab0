package llm

import "time"

const (
	// tokenBytes is about how many bytes a token has, for servers that count none.
	tokenBytes = 4

	// imageTokens is about how many tokens a picture has in a prompt.
	imageTokens = 512

	// mostTokens is more than any request has: a server that counts more is wrong.
	mostTokens = 1 << 24
)

// A Usage is the cost of one question to an engine.
type Usage struct {
	Engine   string // its name in [Request.Engine]
	Priority Priority
	Origin   Origin

	// The tokens as the server counted them. Estimated says that it did not, for example in a reply
	// that was cut off: then they are estimated from what was sent and received.
	PromptTokens, ReplyTokens int
	Estimated                 bool

	// Took is how long the engine was waited for, without the time that the reader took between the
	// pieces.
	Took time.Duration
}

// A costMeter is the cost of a question so far. A nil one belongs to a question that no engine has
// taken up, and costs nothing.
type costMeter struct {
	Usage
	req    *Request
	left   time.Duration // of the watchdog, when the engine took the question up
	pieces int
	bytes  int
	done   *Done
}

func newCostMeter(s *Scheduler, req *Request, left time.Duration) *costMeter {
	return &costMeter{Usage: Usage{Engine: s.Called, Priority: req.Priority, Origin: req.Origin}, req: req, left: left}
}

// note counts a piece of the reply.
func (b *costMeter) note(d Delta) {
	if b == nil {
		return
	}
	n := len(d.Text) + len(d.Thinking)
	if d.Call != nil {
		n += len(d.Call.Tool) + len(d.Call.Arguments)
	}
	if n > 0 {
		b.pieces, b.bytes = b.pieces+1, b.bytes+n
	}
	if d.Done != nil {
		b.done = d.Done
	}
}

// present reports the cost when the question is over. GivenUp says that the engine did not end it:
// then it had read the prompt, or was about to, unlike one that refused it.
func (b *costMeter) present(c *attempt, givenUp bool) {
	if b == nil || c.Spent == nil {
		return
	}
	c.watch.pause()
	b.Took = max(b.left-c.watch.left, 0)
	if b.done != nil {
		b.PromptTokens, b.ReplyTokens = counted(b.done.PromptTokens), counted(b.done.ReplyTokens)
	}
	if b.PromptTokens == 0 && (b.done != nil || b.pieces > 0 || givenUp) {
		b.PromptTokens, b.Estimated = sizeOf(b.req), true
	}
	if b.ReplyTokens == 0 && b.pieces > 0 {
		b.ReplyTokens, b.Estimated = max(b.pieces, b.bytes/tokenBytes), true // a piece is mostly one token
	}
	c.Spent(b.Usage)
}

// counted returns a server's count, if it is plausible.
func counted(tokens int) int {
	if tokens < 0 || tokens > mostTokens {
		return 0
	}
	return tokens
}

// sizeOf returns about how many tokens a prompt has.
func sizeOf(req *Request) int {
	bytes, images := len(req.Schema), 0
	for _, m := range req.Messages {
		bytes += len(m.Text)
		images += len(m.Images)
		for _, c := range m.Calls {
			bytes += len(c.Tool) + len(c.Arguments)
		}
	}
	if !req.Shown {
		for _, t := range req.Tools {
			bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
		}
	}
	return min(bytes/tokenBytes+images*imageTokens+1, mostTokens)
}
