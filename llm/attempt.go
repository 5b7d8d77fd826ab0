package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errLeft says that the reader has left.
var errLeft = errors.New("the reader has left")

// An attempt is one request on its way up a ladder.
type attempt struct {
	*Ladder
	yield func(Delta, error) bool
	watch watchdog
	begun bool // something was yielded
	loads bool // the engine must load the model first

	host  *Host   // that was asked last; nil if the engine has only one, or none had a slot
	tried []*Host // hosts of this engine on which the request failed

	unloaded bool     // it was just unloaded, and is loaded from the page cache
	faults   []*Error // so far, at most one per question
}

// up asks the engines in order. It returns nil if the reply is complete or the reader has left.
func (c *attempt) up(ctx context.Context, asks []engineRequest) error {
	if len(asks) == 0 && len(c.Engines) > 0 {
		return &Error{Fault: Unsupported, Engine: c.Engines[0].Name(), Cure: sightCure, Err: ErrNoVision}
	}
	for len(asks) > 0 {
		a := asks[0]
		err := c.try(ctx, a.Scheduler, a.req)
		if err == nil || c.final(ctx, err) {
			return c.ended(ctx, a.Scheduler, err)
		}
		asks = a.rest(asks[1:], err)
		if c.watch.left <= 0 || len(asks) == 0 {
			c.report(a.Scheduler, GaveUp)
			break
		}
		next := Onward
		if asks[0].Scheduler == a.Scheduler {
			next = Blindly
		}
		c.report(a.Scheduler, next)
	}
	return c.worst()
}

// sightCure says how to get a model that can see where there is none.
const sightCure = "add a model that can look at pictures to executive.llm.engines; `earshot doctor` says whether one can"

// rest returns what remains of asks after a failed with err: the request is repeated without
// pictures only if the engine refused those.
func (a engineRequest) rest(asks []engineRequest, err error) []engineRequest {
	e, ok := errors.AsType[*Error](err)
	if !a.seeing || ok && e.Fault == Unsupported {
		return asks
	}
	return slices.DeleteFunc(asks, func(other engineRequest) bool { return other.again && other.Scheduler == a.Scheduler })
}

// try asks one engine, and again as long as there is an untried cure.
func (c *attempt) try(ctx context.Context, s *Scheduler, req *Request) error {
	again := *req
	for c.unloaded, c.tried = false, nil; ; {
		err := c.ask(ctx, s, &again)
		if err == nil || c.final(ctx, err) {
			return err
		}
		e := c.note(s, &again, err)
		switch {
		case c.watch.left <= 0:
			return err
		case c.elsewhere(ctx, s, &again, e):
			c.report(s, Rerouted)
		case e.Fault == Stalled && !c.unloaded:
			c.unloaded, c.tried = true, nil
			if !c.unload(ctx, s, &again) {
				return err
			}
			c.report(s, Reloaded)
		case e.Fault == Broken && !again.Whole:
			again.Whole, c.tried = true, nil
			c.report(s, Restated)
		default:
			return err
		}
	}
}

// elsewhere reports whether another host is asked after e. It first unloads a model that has stalled. A host
// that is gone cannot say that it sees, so another is asked to look.
func (c *attempt) elsewhere(ctx context.Context, s *Scheduler, req *Request, e *Error) bool {
	if c.host == nil || !ofHost(e) && !errors.Is(e, ErrNoVision) {
		return false
	}
	if c.tried = append(slices.Clip(c.tried), c.host); len(c.tried) >= len(s.Hosts) {
		return false
	}
	if e.Fault == Stalled {
		c.unload(ctx, s, req)
	}
	return c.watch.left > 0
}

// ask asks one question once and passes on the reply.
func (c *attempt) ask(ctx context.Context, s *Scheduler, req *Request) error {
	actx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.watch.begin(cancel)
	defer c.watch.end()
	c.loads, c.host = false, nil
	var limit time.Duration // of the first token, once the request runs
	var cost *costMeter
	start := func(h *Host) {
		c.host = h
		limit = c.first(actx, s, req)
		c.watch.run(limit)
		cost = newCostMeter(s, req, c.watch.left)
	}
	defer func() { cost.present(c, actx.Err() != nil) }()
	for d, err := range s.stream(actx, req, c.tried, start) {
		cost.note(d)
		if err == nil && d == (Delta{}) {
			if len(req.Tools) > 0 { // it may write a call, which arrives whole
				c.watch.run(c.patience(limit))
			}
			continue // signs of life do not make a first token
		}
		c.watch.pause()
		if err != nil {
			return c.fault(actx, s, req, limit, err)
		}
		c.answered(s)
		if !c.yield(d, nil) {
			return errLeft
		}
		if d.Done != nil {
			return nil
		}
		c.watch.run(c.patience(limit))
	}
	return &Error{Fault: Broken, Engine: s.engine(c.host).Name(), Model: req.Model, Err: errors.New("the reply did not end")}
}

// patience returns how long the next token may take. First is the limit for the first one.
func (c *attempt) patience(first time.Duration) time.Duration {
	if !c.begun {
		return first
	}
	return cmp.Or(c.Idle, DefaultIdle)
}

// first returns how long the engine may take to the first token of req.
func (c *attempt) first(ctx context.Context, s *Scheduler, req *Request) time.Duration {
	limit := cmp.Or(c.FirstToken, DefaultFirstToken)
	if l, can := s.engine(c.host).(Loader); can && !c.unloaded && limit > asking {
		ctx, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		if c.loads = l.Loads(ctx, req.Model); c.loads {
			limit = max(limit, cmp.Or(c.Load, DefaultLoad))
		}
	}
	if req.Whole {
		limit = max(limit, c.watch.left/2)
	}
	return limit
}

// fault returns the fault of a question that ended with err. Limit is what the first token was
// allowed, or 0 if the engine never took the question up.
func (c *attempt) fault(ctx context.Context, s *Scheduler, req *Request, limit time.Duration, err error) error {
	e := &Error{Engine: s.engine(c.host).Name(), Model: req.Model}
	switch {
	case context.Cause(ctx) != errOverdue:
		if _, ok := errors.AsType[*Error](err); ok || err == ErrParked || ctx.Err() != nil {
			return err
		}
		e.Fault, e.Err = BadAnswer, err
	case limit == 0:
		e.Fault, e.Err = Busy, errors.New("no slot was free in time")
		e.Cure = "raise executive.llm.slots if the server can do more at once"
	case c.watch.left <= 0:
		e.Fault, e.Err = Stalled, errors.New("the reply was not complete in time")
		e.Cure = "choose a smaller model, or raise executive.llm.total_seconds"
	case c.begun:
		e.Fault, e.Err = Stalled, fmt.Errorf("nothing more came for %v", cmp.Or(c.Idle, DefaultIdle))
		e.Cure = "check whether the server runs: earshot doctor"
	default:
		e.Fault, e.Err = Stalled, fmt.Errorf("no first word came within %v", limit)
		e.Cure = "choose a smaller model, or raise executive.llm.first_token_seconds"
		if c.loads {
			e.Err = fmt.Errorf("the model was being loaded, and no first word came within %v", limit)
			e.Cure = "choose a smaller model, or raise executive.llm.load_seconds"
		}
	}
	return e
}

// answered records the first token.
func (c *attempt) answered(s *Scheduler) {
	if !c.begun {
		c.begun = true
		c.tell(s, Answered, nil)
	}
}

// final reports whether nothing more can be tried after err: something was yielded already, or the
// fault is not the engine's.
func (c *attempt) final(ctx context.Context, err error) bool {
	return c.begun || err == errLeft || errors.Is(err, ErrParked) || ctx.Err() != nil
}

// ended returns what the reader is told when the attempt ends at s with err.
func (c *attempt) ended(ctx context.Context, s *Scheduler, err error) error {
	switch {
	case err == nil || err == errLeft:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		c.tell(s, Dropped, e)
	}
	return err
}

// note records err as a fault.
func (c *attempt) note(s *Scheduler, req *Request, err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok { // from unloading
		e = &Error{Fault: BadAnswer, Engine: s.engine(c.host).Name(), Model: req.Model, Err: err}
	}
	c.faults = append(c.faults, e)
	return e
}

// unload unloads the model, and reports whether it did. An engine that cannot is not asked again:
// it would only be late again.
func (c *attempt) unload(ctx context.Context, s *Scheduler, req *Request) bool {
	u, ok := s.engine(c.host).(Unloader)
	if !ok {
		return false
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, min(unloading, c.watch.left))
	defer cancel()
	err := u.Unload(ctx, req.Model)
	c.watch.left -= time.Since(began)
	if err != nil {
		c.note(s, req, err)
	}
	return err == nil
}

// report reports a step at s, with its last fault.
func (c *attempt) report(s *Scheduler, r StepKind) {
	c.tell(s, r, c.faults[len(c.faults)-1])
}

func (c *attempt) tell(s *Scheduler, r StepKind, e *Error) {
	step := Step{Engine: s.engine(c.host).Name(), Called: s.Called, Kind: r, Err: e}
	if c.host != nil {
		step.Called = c.host.Called
	} else if len(s.Hosts) > 0 {
		step.Called = ""
	}
	if c.Report != nil {
		c.Report(step)
	}
}

// worst returns the fault that people can best do something about, joined with the others.
func (c *attempt) worst() error {
	if len(c.faults) == 0 {
		return &Error{Fault: Unreachable, Engine: "no engine", Cure: "name one under executive.llm"}
	}
	best := c.faults[0]
	for _, e := range c.faults[1:] {
		if mendable(e) > mendable(best) {
			best = e
		}
	}
	joined, said := *best, []string{best.Error()} // the same fault is listed once
	for _, e := range c.faults {
		switch {
		case slices.Contains(said, e.Error()):
			continue
		case joined.Err == nil:
			joined.Err = e
		default:
			joined.Err = fmt.Errorf("%w; %w", joined.Err, e)
		}
		said = append(said, e.Error())
	}
	return &joined
}

// mendable orders faults by what people can do about them. Among equals the engine that is asked
// first counts, since people chose that one.
func mendable(e *Error) int {
	switch {
	case e.Cure == "":
		return 0
	case e.Fault == Stalled || e.Fault == Broken || e.Fault == Busy || e.Fault == BadAnswer:
		return 1 // may pass by itself
	}
	return 2
}
