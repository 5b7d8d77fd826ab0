package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"earshot/llm"
)

// The limits of a turn with tools, for all the agents that have a part in it together. People wait
// for its end.
const (
	mostRounds = 8               // times that the model calls something and is asked again
	mostCalls  = 16              // calls, two for each round
	mostTime   = 2 * time.Minute // of tools; longer than anybody waits without a word

	// mostResult is the longest result in bytes, some 2,000 tokens: several fit into the context of
	// a small model. mostTold bounds all of them together, at the size of its dialogue; beyond that
	// each may still have leastResult.
	mostResult  = 8 << 10
	mostTold    = 32 << 10
	leastResult = 512

	// mostSame is how many times in a row a call may be made with the same arguments: once more
	// than it takes to see that nothing has changed.
	mostSame = 2
)

// A Budget is what is left to a turn with tools. Its zero value is a turn that has used none. It
// belongs to one goroutine.
type Budget struct {
	rounds, calls int
	told          int               // bytes of results
	last          [sha256.Size]byte // the last call
	same          int               // how many times in a row that was made
	spent         time.Duration
	within        int // nested calls under way
}

// round notes that a model has made calls, and reports whether it may be asked again with tools.
func (b *Budget) round() bool {
	b.rounds++
	return b.rounds < mostRounds && b.calls < mostCalls && b.spent < mostTime
}

// admit notes a call, and says why it may not be made; nil if it may.
func (b *Budget) admit(call llm.Call) error {
	b.calls++
	b.repeats(call)
	switch {
	case b.calls > mostCalls:
		return Refuse("that were more than %d calls in one turn; answer with what you know", mostCalls)
	case b.spent >= mostTime:
		return Refuse("the tools have taken %v in this turn, which is all they may; answer with what you know", mostTime)
	case b.same > mostSame:
		return Refuse("you have called %s with the same arguments %d times in a row, and what comes of it is the same; do something else, or answer", bounded(call.Tool, mostName), b.same)
	}
	return nil
}

func (b *Budget) repeats(call llm.Call) {
	text := bytes.NewBufferString(call.Tool + " ")
	if json.Compact(text, call.Arguments) != nil {
		text.Write(call.Arguments)
	}
	if is := sha256.Sum256(text.Bytes()); is != b.last {
		b.last, b.same = is, 0
	}
	b.same++
}

// begin begins a call, which may take the time that is left. done ends it. A call within another
// one takes its time from that.
func (b *Budget) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithTimeout(ctx, mostTime-b.spent)
	began := time.Now()
	b.within++
	return ctx, func() {
		cancel()
		if b.within--; b.within == 0 {
			b.spent += time.Since(began)
		}
	}
}

// room returns how many bytes the next result may have.
func (b *Budget) room() int { return max(min(mostResult, mostTold-b.told), leastResult) }

// tell notes a result of n bytes.
func (b *Budget) tell(n int) { b.told += n }
