package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/llm"
	"earshot/participants"
)

// A Loop is one reply of a model that may use tools. It is an [llm.Service] whose stream is the
// whole reply: the model's words come as they are made; its calls are carried out in order when it
// has finished speaking; then it is asked again with the results. When the turn has used up its
// budget, the model is asked once more without tools, and told so.
//
// A model that is parked for something more urgent is asked again, and continues where it was.
//
// A Loop is for one reply and one goroutine. A second stream, after one that ended without a word,
// continues after the calls that were already made.
type Loop struct {
	Model llm.Service
	Tools Table

	// Scope is for whom the next tool is used. What is kept of a call may have words of the results of
	// those before, so it is asked for again after each.
	Scope func() Scope

	// Confirmed, if set, is carried out before the model is asked: somebody has confirmed it.
	Confirmed *ConfirmedCall

	// Used, if set, receives each call when it has been carried out or refused. It may wait, and
	// the reply waits for it.
	Used func(context.Context, Outcome)

	behind []llm.Message // added to the request: the calls, and their results
	said   []byte        // by the model, since it was last asked
	apart  string        // goes between what was said before it was asked again and what it says next
	over   bool          // it has no tools any more
	parked int           // how many times the model was parked
}

// A ConfirmedCall was confirmed by somebody with the right to it, and is carried out exactly as it
// is, whoever else asks.
type ConfirmedCall struct {
	Call llm.Call
	By   participants.Participant
}

// mostParked is how many times a parked model is asked again in one reply: each time people were
// asking something elsewhere.
const mostParked = 16

// goOn is what a model is told that was parked in the middle of its reply.
const goOn = "You were held up there. Go on with your reply exactly where it stops, and repeat nothing of it."

// errLeft says that nobody listens any more.
var errLeft = errors.New("nobody listens any more")

// enough is what the model is told with its last request.
const enough = "You have used the tools as much as one may in one turn. They are gone. Answer now with what you know, and say what is still to be done."

// Stream implements [llm.Service].
func (l *Loop) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if c := l.Confirmed; c != nil {
			l.Confirmed = nil // only once
			of := func() Scope {
				s := l.Scope()
				s.Askers, s.Asked = []participants.Participant{c.By}, nil
				return s
			}
			if l.do(ctx, of, c.By.ID, c.Call); ctx.Err() != nil {
				yield(llm.Delta{}, context.Cause(ctx))
				return
			}
		}
		for {
			calls, done, err := l.ask(ctx, l.Request(req), yield)
			switch {
			case err == errLeft:
				return
			case l.parks(ctx, err):
				continue
			case err != nil:
				yield(llm.Delta{}, err)
				return
			case len(calls) == 0:
				if done != nil {
					yield(llm.Delta{Done: done}, nil)
				}
				return
			}
			if l.do(ctx, l.Scope, "", calls...); ctx.Err() != nil {
				yield(llm.Delta{}, context.Cause(ctx))
				return
			}
		}
	}
}

// Request returns the next request to the model, for a reply to req.
func (l *Loop) Request(req *llm.Request) *llm.Request {
	r := *req
	r.Tools = l.Tools.offered(l.Scope())
	r.Messages = slices.Concat(req.Messages, l.behind)
	if l.over {
		r.Tools = nil
		r.Messages = append(r.Messages, llm.Message{Role: llm.System, Text: enough})
	}
	return &r
}

// parks reports whether a model that ended with err is asked again because it was parked. What it
// has said stands.
func (l *Loop) parks(ctx context.Context, err error) bool {
	if !errors.Is(err, llm.ErrParked) || ctx.Err() != nil || l.parked == mostParked {
		return false
	}
	l.parked++
	if len(l.said) > 0 {
		l.behind = append(l.behind,
			llm.Message{Role: llm.Assistant, Text: l.saying()},
			llm.Message{Role: llm.System, Text: goOn})
		l.apart = cmp.Or(l.apart, " ")
	}
	return true
}

// ask asks once, and yields the words. It returns the calls and how the model ended, or an error,
// which may be errLeft. If a model calls without end, ask stops reading at the first call too many.
func (l *Loop) ask(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool) (calls []llm.Call, done *llm.Done, err error) {
	l.said = l.said[:0]
	for d, err := range l.Model.Stream(ctx, req) {
		switch {
		case err != nil:
			return nil, nil, err
		case d.Done != nil:
			done = d.Done
		case d.Call == nil:
			if !l.pass(d, yield) {
				return nil, nil, errLeft
			}
		case !l.over:
			call := *d.Call
			call.Arguments = conversation.UnescapeJSON(call.Arguments) // the model repeats what it has read
			if calls = append(calls, call); len(calls) > mostCalls {
				return calls, nil, nil
			}
		}
	}
	return calls, done, nil
}

// saying returns what the model has said, as it stands in a prompt.
func (l *Loop) saying() string { return conversation.Escape(conversation.Unescape(string(l.said))) }

// pass yields words. Words after a call are a paragraph of their own.
func (l *Loop) pass(d llm.Delta, yield func(llm.Delta, error) bool) bool {
	if d.Text != "" {
		if apart := l.apart; apart != "" {
			l.apart = ""
			if !yield(llm.Delta{Text: apart}, nil) {
				return false
			}
		}
		l.said = append(l.said, d.Text...)
	}
	return yield(d, nil)
}

// do carries out the model's calls, in a scope, and adds the results to the request. by is who has
// confirmed them, if anybody had to.
func (l *Loop) do(ctx context.Context, of func() Scope, by earshot.ParticipantID, calls ...llm.Call) {
	called := make([]llm.Call, len(calls))
	for i, c := range calls {
		if !json.Valid(c.Arguments) {
			c.Arguments = json.RawMessage("{}") // otherwise no server would accept it back
		}
		c.Arguments = conversation.EscapeJSON(c.Arguments)
		called[i] = c
	}
	l.behind = append(l.behind, llm.Message{Role: llm.Assistant, Text: l.saying(), Calls: called})
	for _, c := range calls {
		if ctx.Err() != nil { // somebody has cut in, perhaps just as the call was made
			return
		}
		o := l.Tools.Do(ctx, of(), c)
		o.Use.By = by
		if l.Used != nil {
			l.Used(ctx, o)
		}
		l.behind = append(l.behind, o.message(c.ID))
	}
	if len(l.said) > 0 {
		l.apart = "\n\n"
	}
	l.over = !l.Scope().Budget.round()
}

// unseen is what a model is told that requested a picture and does not accept pictures.
const unseen = "\nA picture came with this, which you cannot look at: say no more of what there is to see than stands here, and that you cannot look at pictures yourself."

// message is the result message for the call with that ID.
func (o Outcome) message(id string) llm.Message {
	m := llm.Message{Role: llm.Result, Text: o.Told, Call: id, Images: o.Images}
	if len(o.Images) > 0 {
		m.AltText = o.Told + unseen
	}
	return m
}
