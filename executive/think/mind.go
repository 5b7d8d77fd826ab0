package think

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/llm"
)

// A Host is what a mind needs of the room in which it thinks. Its methods, except Input, are called
// only from the goroutine of [Mind.Run]. They may wait, and give up when ctx ends.
type Host interface {
	// Input returns the input for a segment of a thought about q, or for its distillation. since is
	// the newest event that the last segment knew of; 0 means none. Input may be called while
	// another thought is being recorded.
	Input(ctx context.Context, q Question, since int64) (SegmentInput, error)

	// Keep records a segment. It must not lose the segment, even if ctx has ended.
	Keep(ctx context.Context, q Question, s Segment)

	// Found receives the result of a thought.
	Found(ctx context.Context, q Question, a Answer)

	// Waits reports that no model is available to think about q, and why. The request is repeated
	// until one is. Waits is called only once until a model has answered.
	Waits(q Question, why error)

	// Over reports that a thought has ended, and how many findings it had in all. stopped says that
	// somebody stopped it.
	Over(q Question, found int, stopped bool)
}

// A Mind is the mind of a room. Set its fields, and run it. Its methods are safe for concurrent
// use, and none of them waits for a model or a disk.
type Mind struct {
	Model    llm.Service
	Host     Host
	Settings func() executive.Config
	Now      func() time.Time
	NewID    func() earshot.EventID
	Log      *slog.Logger

	// Moved is called whenever View has changed, with the mind locked. It must return at once and
	// must not use the mind. May be nil.
	Moved func()

	mu     sync.Mutex
	wake   chan struct{} // wakes Run; nil before it
	state  State
	todo   []Act              // for Run
	missed bool               // the last request found no model; owned by the goroutine of the one request
	asking sync.WaitGroup     // the request in progress; Run records what is asked meanwhile
	cancel context.CancelFunc // ends the request with number gen
	gen    int
	ended  int  // the last request that was told to end
	off    bool // thinking is off
}

// Run thinks until ctx ends, and then records what was in progress.
func (m *Mind) Run(ctx context.Context) {
	wake := make(chan struct{}, 1)
	m.mu.Lock()
	m.wake = wake
	m.mu.Unlock()
	for {
		for m.perform(ctx) {
		}
		if ctx.Err() != nil {
			m.step(Event{Kind: Closed})
			for again := true; again; again = m.perform(ctx) {
				m.asking.Wait()
			}
			return
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-m.due():
			m.step(Event{Kind: Ticked})
		}
	}
}

// due returns a channel that fires when a step is due, nil if none is.
func (m *Mind) due() <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.state.Due()
	if at.IsZero() {
		return nil
	}
	return time.After(max(0, at.Sub(m.Now())))
}

// step takes in an event and queues the acts that follow from it.
func (m *Mind) step(e Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next(e)
}

// next is step for callers that hold m.mu. It cancels a request at once; Run carries out the other
// acts.
func (m *Mind) next(e Event) {
	if e.Kind != Token {
		m.state.NewID = m.NewID
		set := m.Settings()
		m.state.Rules = Rules{
			Off:        m.off,
			Sequential: !set.Parallel.Enabled, Continuous: set.Parallel.ReasoningContinuous,
			Interval: set.Parallel.ReasoningInterval.Duration(),
		}
		e.Now = m.Now()
	}
	for _, act := range m.state.Next(e) {
		if act.Kind != Cancel {
			m.todo = append(m.todo, act)
			continue
		}
		m.ended = act.Gen
		if m.cancel != nil && m.gen == act.Gen {
			m.cancel()
		}
	}
	if m.Moved != nil {
		m.Moved()
	}
	if e.Kind == Token {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Ask makes the mind think about a question, or returns why it does not. A question that nobody
// asked is always taken, and thought about when there is time.
func (m *Mind) Ask(q Question) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.state.Takes(q); err != nil {
		return err
	}
	m.next(Event{Kind: Asked, Question: q})
	return nil
}

// Restore continues a thought from before the program ended. upto is the newest event that the
// thought knew of.
func (m *Mind) Restore(q Question, stretches []Segment, upto int64) {
	m.step(Event{Kind: Restored, Question: q, Segments: stretches, Upto: upto})
}

// Park ends the request in progress because somebody wants the floor, and prevents others until
// Release.
func (m *Mind) Park(by earshot.Interruption) { m.step(Event{Kind: Held, Cut: by}) }

// Release lets thinking continue.
func (m *Mind) Release() { m.step(Event{Kind: Released}) }

// SetEnabled switches thinking on or off; it is on at first. It also reads the settings again.
func (m *Mind) SetEnabled(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off == on || m.state.Rules.Continuous != m.Settings().Parallel.ReasoningContinuous {
		m.off = !on
		m.next(Event{Kind: Ticked})
	}
}

// Steer makes the matching thoughts take into account what somebody has said about them, and
// reports whether there are any.
func (m *Mind) Steer(by earshot.ParticipantID, fit func(Question) bool) bool {
	return m.told(Event{Kind: Steered, Fit: fit, Cut: earshot.Interruption{By: by, Signal: BySteering, At: m.Now()}})
}

// Stop ends the matching thoughts, and reports whether there were any.
func (m *Mind) Stop(by earshot.ParticipantID, fit func(Question) bool) bool {
	return m.told(Event{Kind: Stopped, Fit: fit, Cut: earshot.Interruption{By: by, Signal: "command", At: m.Now()}})
}

func (m *Mind) told(e Event) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	any := slices.ContainsFunc(m.state.thoughts, func(t *thought) bool { return e.Fit(t.Question) })
	m.next(e)
	return any
}

// Has reports whether there is a matching thought.
func (m *Mind) Has(fit func(Question) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.state.thoughts, func(t *thought) bool { return fit(t.Question) })
}

// View returns the current thoughts in the order in which they will be thought.
func (m *Mind) View() []View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.View()
}

// Busy reports whether the mind is thinking, or will think if nothing happens.
func (m *Mind) Busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.current != nil || len(m.todo) > 0 || m.state.Busy() && !m.state.held && !m.off
}

// Held reports whether the mind is parked.
func (m *Mind) Held() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.held
}

// perform carries out the next act, if there is one.
func (m *Mind) perform(ctx context.Context) bool {
	m.mu.Lock()
	if len(m.todo) == 0 {
		m.mu.Unlock()
		return false
	}
	act := m.todo[0]
	m.todo = slices.Delete(m.todo, 0, 1)
	m.mu.Unlock()
	switch act.Kind {
	case Think:
		m.asking.Go(func() { m.think(ctx, act) })
	case Distil:
		m.asking.Go(func() { m.distil(ctx, act) })
	case Keep:
		m.Host.Keep(ctx, act.Question, act.Segment)
	case Give:
		m.give(ctx, act)
	case Wait:
		m.Host.Waits(act.Question, act.Err)
	case Over:
		m.Host.Over(act.Question, act.Found, act.Stopped)
	}
	return true
}

// errEnded is the error of a request that was told to end before it began.
var errEnded = errors.New("it was stopped before it began")

// under calls do with a context that ends when request gen must end.
func (m *Mind) under(ctx context.Context, gen int, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.mu.Lock()
	m.cancel, m.gen = cancel, gen
	ended := m.ended >= gen
	m.mu.Unlock()
	if ended {
		return errEnded
	}
	return do(ctx)
}

// think requests a segment.
func (m *Mind) think(ctx context.Context, act Act) {
	upto, news := act.Upto, false
	err := m.under(ctx, act.Gen, func(ctx context.Context) error {
		matter, err := m.Host.Input(ctx, act.Question, act.Upto)
		if err != nil {
			return err
		}
		upto = matter.Upto
		set := m.Settings()
		last := longform(set.Reasoning, act.Question, matter)
		if act.Goes {
			last, news = followOn(set.Reasoning, act.Question, act.Text, matter), matter.Update != (Update{})
		}
		req := request(set, matter, last)
		req.Origin = act.Question.origin(matter)
		var restore conversation.Unescaper // the model repeats what was escaped for it
		err = m.stream(ctx, req, func(text string) { m.token(act.Gen, restore.Next(text)) })
		m.token(act.Gen, restore.End())
		return err
	})
	m.report("a stretch of thought failed", err)
	m.done(ctx, Event{Gen: act.Gen, Err: err, Upto: upto, News: news})
}

// done takes in that a request has ended. If it ended because the program ends, it has not failed.
func (m *Mind) done(ctx context.Context, e Event) {
	if ctx.Err() != nil {
		m.step(Event{Kind: Closed})
	}
	e.Kind = Ended
	m.step(e)
}

// token takes in a piece of a segment.
func (m *Mind) token(gen int, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next(Event{Kind: Token, Gen: gen, Text: text})
}

// stream passes on what the model yields; its separate thinking counts as text too. A prompt that
// is too long loses the older half of its dialogue, repeatedly, until it fits.
func (m *Mind) stream(ctx context.Context, req *llm.Request, give func(string)) error {
	for {
		given, err := false, error(nil)
		for d, wrong := range m.Model.Stream(ctx, req) {
			if err = wrong; err != nil {
				break
			}
			given = true
			give(d.Text + d.Thinking)
		}
		fault, refused := errors.AsType[*llm.Error](err)
		if given || !refused || fault.Fault != llm.TooLong {
			return err
		}
		shorter, ok := req.Shorten(1)
		if !ok {
			return err
		}
		req = shorter
	}
}

// report logs why a request failed, unless it was told to end.
func (m *Mind) report(what string, err error) {
	missed := m.missed
	m.missed = Away(err)
	switch fault, known := errors.AsType[*llm.Error](err); {
	case missed && m.missed: // logged already
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, llm.ErrParked) || errors.Is(err, errEnded):
	case known:
		m.Log.Warn(what, "fault", string(fault.Fault))
	default:
		m.Log.Warn(what, "err", err)
	}
}

// distil asks the model for the findings of a thought.
func (m *Mind) distil(ctx context.Context, act Act) {
	var a Answer
	err := m.under(ctx, act.Gen, func(ctx context.Context) error {
		if strings.TrimSpace(act.Text) == "" {
			return nil // no text yields no findings
		}
		matter, err := m.Host.Input(ctx, act.Question, act.Upto)
		if err != nil {
			return err
		}
		if act.Plain {
			matter.Tools = nil
		}
		a, err = m.answer(ctx, act, matter)
		return err
	})
	m.report("what a thought has come to could not be found out", err)
	if n := a.Refused; n > 0 {
		m.Log.Info("some of what a thought has come to was refused", "count", n)
	}
	m.done(ctx, Event{Gen: act.Gen, Err: err, Answer: a})
}

// give hands the findings of a thought to the host, unless somebody has stopped the thought
// meanwhile.
func (m *Mind) give(ctx context.Context, act Act) {
	m.mu.Lock()
	gives := m.state.Gives(act.Gen)
	m.mu.Unlock()
	if gives {
		m.Host.Found(ctx, act.Question, act.Answer)
	}
	m.step(Event{Kind: Given, Gen: act.Gen})
}

// answer asks for findings and, if there are too many, has them merged.
func (m *Mind) answer(ctx context.Context, act Act, matter SegmentInput) (a Answer, err error) {
	from := act.Question.origin(matter)
	for _, e := range matter.Evidence {
		from.Evidence = append(from.Evidence, string(e.Event))
	}
	text, err := m.ask(ctx, matter, distilling(act.Question, act.Text, matter), schema("evidence", "e", len(matter.Evidence)), from)
	if err != nil {
		return a, err
	}
	now := m.Now()
	if a.Findings, a.Refused, err = ParseFindings([]byte(text), act.Question, matter.Evidence, now); err != nil {
		return a, err
	}
	if !act.Question.Cause.Asked() { // somebody who asked gets an answer, even if it is known already
		a.Findings = slices.DeleteFunc(a.Findings, func(f Finding) bool { return knows(matter.Buffered, f, now) })
	}
	if old, fresh := merging(matter.Buffered, a.Findings, now); !fits(matter.Buffered, a.Findings) && len(old)+len(fresh) > 1 {
		text, err := m.ask(ctx, matter, condensing(old, fresh), schema("merges", "f", len(old)+len(fresh)), act.Question.origin(matter))
		if err == nil {
			a.Findings, err = merged([]byte(text), old, fresh, a.Findings, now)
		}
		m.report("findings could not be put together", err)
	}
	return a, nil
}

// origin returns the purpose of a request for q, for tracing.
func (q Question) origin(m SegmentInput) llm.Origin {
	return llm.Origin{Agent: string(m.Agent), Thought: string(q.ID), Cause: string(q.Cause), About: string(q.About), Unasked: !q.Cause.Asked()}
}

// ask asks the model for an answer that follows a schema.
func (m *Mind) ask(ctx context.Context, matter SegmentInput, last string, schema []byte, from llm.Origin) (string, error) {
	req := request(m.Settings(), matter, last)
	req.Schema, req.Temperature, req.Origin = schema, 0, from
	var b strings.Builder
	err := m.stream(ctx, req, func(text string) {
		if b.Len() <= mostAnswer {
			b.WriteString(text)
		}
	})
	return b.String(), err
}
