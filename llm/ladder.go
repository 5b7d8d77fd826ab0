package llm

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"
)

// The default bounds of a [Ladder].
const (
	// DefaultFirstToken is half a minute: a loaded model reads our longest prompt in that time on
	// most machines, and a server that is silent for so long will stay silent.
	DefaultFirstToken = 30 * time.Second

	// DefaultLoad is two minutes: a model of 8B is 5 GB, which a slow disk reads in 50 s. With
	// less, a model that is still loading would be unloaded for that.
	DefaultLoad = 2 * time.Minute

	// asking is how long an engine may take to say whether it must load a model. A running one does
	// so in milliseconds.
	asking = time.Second

	// DefaultIdle is half a minute: the slowest useful model gives a token in two seconds, and a
	// server that moves its context or swaps stalls for ten.
	DefaultIdle = 30 * time.Second

	// DefaultTotal is ten minutes: a thinking model of 8B on a processor alone gives three tokens a
	// second, so 1800 of them.
	DefaultTotal = 10 * time.Minute

	// finding is how long all engines together may take to say whether they can look at pictures. A
	// running one does so in milliseconds.
	finding = 2 * time.Second

	// unloading is how long an unload may take. Measured: 0.3 s. A server that takes longer will
	// not answer this either.
	unloading = 3 * time.Second
)

// A Ladder is a [Service] that asks its engines until one answers, first the one that the request
// names and then the others in their order. On the way it fixes what it can:
//
//  1. The first token is late, or the engine says so itself ([Stalled]): the
//     model may be wedged. It is unloaded, where the engine is an [Unloader],
//     and asked again, once.
//  2. The stream broke before its first token ([Broken]): it is asked once
//     more, not streaming.
//  3. The next engine, with its own model, whatever the request named.
//
// A request that fails on one of several hosts of an engine goes to the others before that.
//
// A request with pictures goes first, in order, to the engines that say they can see, each a
// [Seer]; then to all, with alternative texts in place of the pictures. See [WithoutImages]. An
// engine that refuses the pictures, as [Unsupported], is asked again without them. If none can
// see, and the request must be seen, that is the error.
//
// A name that no engine has counts as if neither an engine nor a model were named.
//
// After the first token, a stream that breaks or stalls is an error and is not retried, since
// something was said already. If no engine answered, the error is the fault that people can best
// do something about, and wraps the others.
//
// Each engine stands behind its own [Scheduler], inside the ladder rather than around it: so a
// slot belongs to one engine, each retry waits for a slot again, and the ladder knows when an
// engine has started a request. FirstToken is measured from then. A model with tools may write a
// call for long before any of it comes: then a sign of life counts as a token, except that the
// reply has not begun. The time that the reader takes between the pieces does not count: a reply
// may be paused for any time.
type Ladder struct {
	Engines []*Scheduler

	// FirstToken is how long an engine may take to the first token. A request for a [Request.Whole]
	// reply, which has no other token, may take half of what is left of Total.
	FirstToken time.Duration // zero means [DefaultFirstToken]

	// Load is how long the first token may take if the engine says that it must load the model
	// first; see [Loader]. It is silent meanwhile.
	Load time.Duration // zero means [DefaultLoad]

	// Idle is how long it may take from one token to the next.
	Idle time.Duration // zero means [DefaultIdle]

	// Total bounds everything: waiting for slots, all engines, the reply.
	Total time.Duration // zero means [DefaultTotal]

	// Report, if set, is called with each step, to inform people. It is called from the reader's
	// goroutine and must not block.
	Report func(Step)

	// Spent, if set, is called with the cost of each question that an engine has started, even one
	// that failed or was given up. It is called like Report.
	Spent func(Usage)
}

// A StepKind is what a ladder did.
type StepKind string

// The kinds of steps.
const (
	Answered StepKind = "answered"                         // the first token came
	Reloaded StepKind = "unloaded the model to ask again"  // the first token did not come
	Restated StepKind = "asked again without streaming"    // the stream broke
	Onward   StepKind = "asked the next engine"            // nothing more helps here
	Rerouted StepKind = "asked another host of the engine" // this one failed
	Blindly  StepKind = "asked again without pictures"     // it cannot look at them
	GaveUp   StepKind = "gave up"                          // there is no next engine
	Dropped  StepKind = "gave up in the middle of a reply" // something was said already
)

// A Step is one step on a ladder.
type Step struct {
	Engine string // the engine concerned, for people
	Called string // its name in [Request.Engine], or [Host.Called]; empty if all its hosts were busy
	Kind   StepKind
	Err    *Error // why; nil for Answered
}

// Stream implements [Service].
func (l *Ladder) Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		c := attempt{Ladder: l, yield: yield, watch: watchdog{left: cmp.Or(l.Total, DefaultTotal)}}
		if err := c.up(ctx, l.asks(ctx, req)); err != nil {
			yield(Delta{}, err)
		}
	}
}

// An engineRequest is a request to one engine.
type engineRequest struct {
	*Scheduler
	req *Request

	seeing bool // with pictures
	again  bool // a retry without the pictures
}

// asks returns the requests to the engines, in order.
func (l *Ladder) asks(ctx context.Context, req *Request) (asks []engineRequest) {
	engines, req := l.order(req)
	elsewhere := *req
	elsewhere.Engine, elsewhere.Model = "", ""
	for i, s := range engines {
		if i == 0 {
			asks = append(asks, engineRequest{Scheduler: s, req: req})
		} else {
			asks = append(asks, engineRequest{Scheduler: s, req: &elsewhere})
		}
	}
	if !Shows(req) && !req.MustSee {
		return blinded(asks)
	}
	ctx, cancel := context.WithTimeout(ctx, finding)
	defer cancel()
	var seeing []engineRequest
	for i, a := range asks {
		if a.Sees(ctx, a.req.Model) {
			seeing, asks[i].again = append(seeing, engineRequest{Scheduler: a.Scheduler, req: a.req, seeing: true}), true
		}
	}
	if req.MustSee {
		return seeing
	}
	return append(seeing, blinded(asks)...)
}

// blinded returns asks without pictures.
func blinded(asks []engineRequest) []engineRequest {
	for i, a := range asks {
		asks[i].req = WithoutImages(a.req)
	}
	return asks
}

// order returns the engines in the order in which they are asked, and the request for the first.
func (l *Ladder) order(req *Request) ([]*Scheduler, *Request) {
	first := slices.IndexFunc(l.Engines, func(s *Scheduler) bool { return s.Called == req.Engine })
	switch {
	case req.Engine == "" || first == 0:
		return l.Engines, req
	case first < 0:
		usual := *req
		usual.Engine, usual.Model = "", ""
		return l.Engines, &usual
	}
	others := slices.Delete(slices.Clone(l.Engines), first, first+1)
	return slices.Insert(others, 0, l.Engines[first]), req
}
