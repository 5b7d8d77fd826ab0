package main

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"earshot/llm"
)

// piece is what the models here say, over and over.
const piece = " tide"

// An engine is a model that takes no time. It says piece until it has said it
// so many times, or until its reader leaves.
type engine struct {
	pieces int           // of a reply; 0 is without end
	hang   bool          // until the reader leaves, after the last piece
	first  time.Duration // until the first piece
	asked  atomic.Int64  // for how many replies
	said   atomic.Int64
}

// Name implements [llm.Engine].
func (e *engine) Name() string { return "instant" }

// Probe implements [llm.Engine].
func (e *engine) Probe(context.Context) (llm.Status, error) { return llm.Status{}, nil }

// Stream implements [llm.Service].
func (e *engine) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		e.asked.Add(1)
		if err := ponder(ctx, e.first); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for i := 0; e.pieces == 0 || i < e.pieces; i++ {
			if ctx.Err() != nil {
				yield(llm.Delta{}, context.Cause(ctx))
				return
			}
			e.said.Add(1)
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		if e.hang {
			<-ctx.Done()
			yield(llm.Delta{}, context.Cause(ctx))
			return
		}
		yield(llm.Delta{Done: &llm.Done{ReplyTokens: e.pieces}}, nil)
	}
}

// ponder waits for d, or until ctx ends, and says why it did.
func ponder(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ladder puts e where the daemon would.
func ladder(e llm.Engine) *llm.Ladder {
	return &llm.Ladder{Engines: []*llm.Scheduler{{Engine: e, Slots: 1}}}
}
