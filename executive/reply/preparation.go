package reply

import (
	"context"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive/question"
	"earshot/llm"
)

// A Preparation is the answer that is prepared, so that it comes sooner, for words W which sound
// complete while they are being said. Nobody sees any of it, nothing of it is kept, and its tool
// calls are not carried out. The turn takes it over when the words are on record, if its request is
// the same. Note, Drop and Model are safe for concurrent use; the other methods belong to the owner
// of the room. Use [NewPreparation].
type Preparation[W any] struct {
	model   llm.Service
	head    *llm.HeadStart // in front of the model; nil if there is none
	changes atomic.Int64   // of what is prepared for
	newest  atomic.Pointer[noted[W]]

	from  earshot.Handle
	began time.Time // the start of the voice
	at    time.Time // when it was prepared, which is the now of its prompt
}

// noted are words for which an answer may be prepared, with the number of the change.
type noted[W any] struct {
	words  W
	change int64
}

// NewPreparation prepares answers by a model; none if it is nil.
func NewPreparation[W any](model llm.Service) *Preparation[W] {
	p := &Preparation[W]{model: model}
	if model != nil {
		p.head = &llm.HeadStart{Service: model}
	}
	return p
}

// Model returns the model for replies, which takes over what was prepared; nil if there is none.
func (p *Preparation[W]) Model() llm.Service {
	if p.head == nil {
		return nil
	}
	if c, ok := p.model.(llm.ReplaceableService); ok {
		return p.head.On(c.Current())
	}
	return p.head
}

// Note notes words that are being said. If they sound complete, it reports true: the owner then
// prepares an answer; of several words the newest count. Otherwise an answer that was prepared for
// other words, or for a voice that did not continue, is dropped.
func (p *Preparation[W]) Note(words W, complete bool) (prepare bool) {
	if p.head == nil {
		return false
	}
	change := p.changes.Add(1)
	p.newest.Store(nil)
	if !complete {
		p.head.Drop()
		return false
	}
	p.newest.Store(&noted[W]{words, change})
	return true
}

// Next returns the newest words for which an answer is to be prepared, once, and the number to begin
// it by.
func (p *Preparation[W]) Next() (words W, change int64, ok bool) {
	if n := p.newest.Swap(nil); n != nil {
		return n.words, n.change, true
	}
	return words, 0, false
}

// Begin begins the request for q, unless other words have come since those of a change.
func (p *Preparation[W]) Begin(ctx context.Context, change int64, q question.Question, req *llm.Request) {
	p.from, p.began, p.at = q.Message.From, q.Message.At, q.AsOf
	p.head.Begin(ctx, req)
	if p.changes.Load() != change { // they gave it up before it had begun
		p.head.Drop()
	}
}

// AsOf returns the now of the request for q: when it was prepared, if it was, and otherwise now.
func (p *Preparation[W]) AsOf(q question.Question, now time.Time) time.Time {
	if q.Aloud && p.from == q.Message.From && p.began.Equal(q.Message.At) {
		return p.at
	}
	return now
}

// Drop drops what is prepared.
func (p *Preparation[W]) Drop() {
	if p.head != nil {
		p.head.Drop()
	}
}

// Close drops what is prepared, and waits until its request has ended.
func (p *Preparation[W]) Close() {
	if p.head != nil {
		p.head.Drop()
		p.head.Wait()
	}
}

// Counts returns how many answers were prepared, and how many of them were taken over.
func (p *Preparation[W]) Counts() (begun, taken int) { return p.head.Counts() }
