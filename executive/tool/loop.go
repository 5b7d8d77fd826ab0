package tool

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"earshot/conversation"
	"earshot/llm"
)

// A Loop is one reply of a model that may use tools. It is an [llm.Service]
// whose stream is the whole reply: what the model says comes as it is made; what
// it calls is done when it has said what it wanted to, in order; and then it is
// asked again with what came of it. When the turn has used up what it may, the
// model is asked once more without tools, and told so.
//
// It is for one reply and one goroutine. A second stream, after one that ended
// without a word, goes on behind what was done already.
type Loop struct {
	Model llm.Service
	Tools Table
	Scope Scope

	// Used, if set, is told of each call when it has been done or refused. It
	// may wait, and the reply waits for it.
	Used func(context.Context, Outcome)

	behind []llm.Message // of the request: what was called, and what came of it
	said   []byte        // by the model, since it was asked
	apart  bool          // something was said before it was asked again
	over   bool          // it has no tools any more
}

// enough is what the model is told with its last request.
const enough = "You have used the tools as much as one may in one turn. They are gone. Answer now with what you know, and say what is still to be done."

// Stream implements [llm.Service].
func (l *Loop) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for {
			calls, done, more := l.ask(ctx, l.request(req), yield)
			switch {
			case !more:
				return
			case len(calls) == 0:
				if done != nil {
					yield(llm.Delta{Done: done}, nil)
				}
				return
			}
			if l.do(ctx, calls); ctx.Err() != nil {
				yield(llm.Delta{}, context.Cause(ctx))
				return
			}
		}
	}
}

// request returns what is asked now.
func (l *Loop) request(req *llm.Request) *llm.Request {
	r := *req
	r.Tools = l.Tools.For(l.Scope.Askers)
	r.Messages = slices.Concat(req.Messages, l.behind)
	if l.over {
		r.Tools = nil
		r.Messages = append(r.Messages, llm.Message{Role: llm.System, Text: enough})
	}
	return &r
}

// ask asks once, and yields what is said. It returns what is called and how it
// ended, or that there is no more to yield. Of a model that calls without end
// the first call too many is the last that is listened to.
func (l *Loop) ask(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool) (calls []llm.Call, done *llm.Done, more bool) {
	l.said = l.said[:0]
	for d, err := range l.Model.Stream(ctx, req) {
		switch {
		case err != nil:
			yield(llm.Delta{}, err)
			return nil, nil, false
		case d.Done != nil:
			done = d.Done
		case d.Call == nil:
			if !l.pass(d, yield) {
				return nil, nil, false
			}
		case !l.over:
			if calls = append(calls, *d.Call); len(calls) > mostCalls {
				return calls, nil, true
			}
		}
	}
	return calls, done, true
}

// pass yields what is said. What is said after something was done is a paragraph
// of its own.
func (l *Loop) pass(d llm.Delta, yield func(llm.Delta, error) bool) bool {
	if d.Text != "" {
		if l.apart {
			l.apart = false
			if !yield(llm.Delta{Text: "\n\n"}, nil) {
				return false
			}
		}
		l.said = append(l.said, d.Text...)
	}
	return yield(d, nil)
}

// do does what the model called, and puts what came of it behind the request.
func (l *Loop) do(ctx context.Context, calls []llm.Call) {
	called := make([]llm.Call, len(calls))
	for i, c := range calls {
		if !json.Valid(c.Arguments) {
			c.Arguments = json.RawMessage("{}") // or no server would take it back
		}
		called[i] = c
	}
	l.behind = append(l.behind, llm.Message{Role: llm.Assistant, Text: conversation.Defuse(string(l.said)), Calls: called})
	for _, c := range calls {
		o := l.Tools.Do(ctx, l.Scope, c)
		if l.Used != nil {
			l.Used(ctx, o)
		}
		if ctx.Err() != nil {
			return
		}
		l.behind = append(l.behind, llm.Message{Role: llm.Result, Text: o.Told, Call: c.ID})
	}
	l.apart = l.apart || len(l.said) > 0
	l.over = !l.Scope.Budget.round()
}
