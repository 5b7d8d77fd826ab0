package think

import (
	"errors"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/language"
	"earshot/llm"
)

const (
	// settle is how long a thought is parked before it is distilled: most exchanges end sooner, and
	// the thought then continues.
	settle = 30 * time.Second

	// mostTries is how many times in a row a request of a thought may fail.
	mostTries = 3

	// backOff is the pause after the first failure; after each further failure it is four times as
	// long.
	backOff = 5 * time.Second

	// longestBackOff is the longest pause while no model answers at all: once a model is back,
	// thinking continues within this time.
	longestBackOff = time.Minute

	// longestAside is how long a thought that nobody asked for may be parked. After that its
	// subject is out of date.
	longestAside = 10 * time.Minute
)

// The signals to which a thought gives way besides those of the floor, as the journal records them.
const (
	ByPriority = "priority" // another request needed the engine
	ByQuestion = "question" // a question that somebody asked precedes one that nobody asked
	BySteering = "steering" // somebody said more about it
	ByRule     = "off"      // thinking was switched off
	ByEnding   = "shutdown" // the program ended
)

// A State is what a mind has to think about. The zero value has nothing to think about.
type State struct {
	Rules Rules
	NewID func() earshot.EventID // makes IDs for segments after the first; required

	thoughts []*thought // those that somebody asked for come first, each group in order of arrival
	fresh    *Question  // something new that waits until it is due
	current  *thought   // the thought whose request is under way, or nil
	sorts    bool       // the request distils the thought
	gives    *Answer    // its findings while they are being recorded, or nil
	stopping bool       // the request was told to end
	gen      int        // number of the last request
	held     bool       // somebody wants the floor
	since    time.Time  // when the hold began
	tried    bool       // in this hold, the parked thought was distilled, or this was tried
	rest     time.Time  // when the last thought ended
	closed   bool
	acts     []Act // reused from step to step
}

// A thought is one thought in a [State].
type thought struct {
	Question
	text     []byte // of all segments
	from     int    // where the last segment begins
	spans    []Span
	heard    int       // how often it continued with something new
	began    time.Time // when the last segment began
	tokens   int
	kept     int                  // segments that are recorded
	last     earshot.EventID      // the last recorded segment
	upto     int64                // see SegmentInput
	cut      earshot.Interruption // what it gives way to
	parked   time.Time            // since when it is parked
	sorted   int                  // how many bytes of text have been distilled
	found    int                  // findings
	tries    int
	missed   int       // how many times in a row there was no model to ask
	again    time.Time // not tried again before then
	full     bool      // no more text fits
	finished bool      // only the distillation is left
	drop     bool      // somebody has stopped it
}

// Next takes in an event and returns the acts that follow from it, in order. The acts are valid
// until the next call. Next is total: any event may come at any time, and one that comes too late
// does nothing.
func (s *State) Next(e Event) []Act {
	s.acts = s.acts[:0]
	switch e.Kind {
	case Token:
		s.token(e)
		return s.acts // nothing follows from the event
	case Asked:
		s.ask(e.Question, e.Now)
	case Restored:
		s.restore(e)
	case Held:
		s.hold(e)
	case Released:
		s.held, s.tried = false, false
	case Ended:
		s.end(e)
	case Given:
		s.given(e)
	case Steered:
		s.steer(e)
	case Stopped:
		s.stop(e)
	case Closed:
		s.close(e.Now)
	}
	s.advance(e.Now)
	return s.acts
}

// The errors of Ask. Their texts are shown to people and to models.
var (
	ErrFull   = errors.New("too many questions are waiting already; ask again when one is answered")
	ErrAsking = errors.New("that is being thought about already")
)

// Takes says why a question cannot be accepted; nil if it can.
func (s *State) Takes(q Question) error {
	here, private := 0, 0
	for _, t := range s.thoughts {
		if !t.Cause.Asked() {
			continue
		}
		if t.Visibility.Scope == earshot.Private {
			private++
		}
		if !together(q, t.Question) {
			continue
		}
		if q.Text != "" && language.SameWords(q.Text, t.Text) {
			return ErrAsking
		}
		here++
	}
	if q.Cause.Asked() && (here >= MostAsked || q.Visibility.Scope == earshot.Private && private >= MostPrivate) {
		return ErrFull
	}
	return nil
}

// together reports whether two questions belong to the same conversation: the public one, or the
// same private one.
func together(q, p Question) bool {
	if q.Visibility.Scope != earshot.Private || p.Visibility.Scope != earshot.Private {
		return q.Visibility.Scope == p.Visibility.Scope
	}
	return slices.Equal(q.Visibility.Members, p.Visibility.Members)
}

// ask takes in a question. A question that somebody asked is recorded before it is thought about,
// so it is not lost however the program ends. Something that is merely new waits until it is due,
// or is added to a parked thought as news.
func (s *State) ask(q Question, now time.Time) {
	switch {
	case s.closed || s.Takes(q) != nil:
	case q.Cause.Asked():
		t := &thought{Question: q}
		s.insert(t)
		s.keep(t, Segment{At: now, Thought: earshot.Thought{Outcome: earshot.Asked}})
	case !slices.ContainsFunc(s.thoughts, (*thought).unasked):
		s.fresh = &q
	}
}

func (t *thought) unasked() bool { return !t.Cause.Asked() }

// insert adds a thought after those that have precedence.
func (s *State) insert(t *thought) {
	at := len(s.thoughts)
	if t.Cause.Asked() {
		if i := slices.IndexFunc(s.thoughts, (*thought).unasked); i >= 0 {
			at = i
		}
	}
	s.thoughts = slices.Insert(s.thoughts, at, t)
}

// restore continues a thought from an earlier run.
func (s *State) restore(e Event) {
	if s.closed || s.Takes(e.Question) != nil {
		return
	}
	t := &thought{Question: e.Question, parked: e.Now, upto: e.Upto}
	for _, was := range e.Segments {
		t.finished = was.Outcome == earshot.Completed
		t.tokens, t.last = was.Tokens, was.ID
		t.kept++
		if was.Text == "" {
			continue
		}
		t.text = append(t.text, was.Text...)
		t.spans = append(t.spans, Span{t.from, len(t.text), was.At, was.Cut})
		t.from = len(t.text)
	}
	t.heard = max(0, len(t.spans)-1)
	t.full = len(t.text) >= MostText
	t.finished = t.finished || t.full
	s.insert(t)
}

// token appends text to the segment in progress, even if that was told to end: nothing that the
// model has yielded is lost.
func (s *State) token(e Event) {
	t := s.current
	if t == nil || e.Gen != s.gen || s.sorts || t.full || e.Text == "" {
		return
	}
	if t.text == nil {
		t.text = make([]byte, 0, MostText)
	}
	t.tokens++
	text := e.Text
	if len(t.text)+len(text) > MostText {
		text, t.full = language.WholeRunes(text[:MostText-len(t.text)]), true
		s.cancel()
	}
	t.text = append(t.text, text...)
}

// cancel ends the request under way.
func (s *State) cancel() {
	if s.current != nil && !s.stopping {
		s.stopping = true
		s.acts = append(s.acts, Act{Kind: Cancel, Gen: s.gen})
	}
}

// hold parks the thought under way.
func (s *State) hold(e Event) {
	if !s.held {
		s.held, s.since, s.tried = true, e.Now, false
	}
	s.giveWay(e.Cut)
}

// giveWay ends the request under way in favour of something else.
func (s *State) giveWay(to earshot.Interruption) {
	if s.current != nil && !s.stopping {
		s.current.cut = to
	}
	s.cancel()
}

// end takes in that a request has ended. Its findings are recorded before anything else begins;
// until then, somebody can still stop the thought.
func (s *State) end(e Event) {
	t := s.current
	if t == nil || e.Gen != s.gen || s.gives != nil {
		return
	}
	stopping, sorts := s.stopping, s.sorts
	if sorts && !t.drop && e.Err == nil && len(e.Answer.Findings) > 0 {
		s.gives, e.Answer.Segment = &e.Answer, t.last
		s.acts = append(s.acts, Act{Kind: Give, Gen: e.Gen, Question: t.Question, Answer: e.Answer})
		return
	}
	s.current, s.stopping, s.sorts = nil, false, false
	if sorts {
		s.sortedOut(t, e, stopping)
		return
	}
	t.upto = max(t.upto, e.Upto)
	s.stretched(t, e, stopping)
}

// Gives reports whether the findings of request gen are still to be recorded, which is so if nobody
// has stopped the thought.
func (s *State) Gives(gen int) bool {
	return s.gives != nil && s.gen == gen && !s.current.drop
}

// given takes in that the findings were recorded, or were not because the thought was stopped.
func (s *State) given(e Event) {
	if t := s.current; s.gives != nil && e.Gen == s.gen {
		if !t.drop {
			t.found += len(s.gives.Findings)
		}
		s.current, s.gives, s.stopping, s.sorts = nil, nil, false, false
		s.sortedOut(t, e, false)
	}
}

// stretched takes in that a segment has ended.
func (s *State) stretched(t *thought, e Event, stopping bool) {
	st := Segment{At: t.began, Thought: earshot.Thought{Outcome: earshot.Interrupted, Took: max(e.Now.Sub(t.began), 0)}}
	if e.News {
		t.heard++
	}
	switch {
	case t.drop:
		st.Cut, st.Dropped = &t.cut, true
	case e.Err == nil || t.full:
		st.Outcome, t.finished = earshot.Completed, true
	case stopping || errors.Is(e.Err, llm.ErrParked) || s.closed:
		if !stopping {
			t.cut = earshot.Interruption{Signal: ByPriority, At: e.Now}
		}
		st.Cut, st.Dropped = new(t.cut), s.Rules.Sequential || t.heard+1 >= MostSegments
		t.tries, t.finished = 0, st.Dropped
	case s.misses(t, e):
		st.Outcome = earshot.Failed
	default:
		t.tries++
		t.again = e.Now.Add(backOff << (2 * (t.tries - 1)))
		st.Outcome = earshot.Failed
		if t.tries >= mostTries {
			st.Dropped, t.finished, t.tries, t.again = true, true, 0, time.Time{}
		}
	}
	if !Away(e.Err) {
		t.missed = 0
	}
	t.parked = e.Now
	s.keep(t, st)
	if t.drop || t.finished && len(t.text) == t.sorted {
		s.over(t, e.Now)
	}
}

// Away reports whether a request failed because no model was available. The request itself is not
// at fault, and may be repeated without limit.
func Away(err error) bool {
	e, is := errors.AsType[*llm.Error](err)
	return is && slices.Contains([]llm.Fault{llm.Unreachable, llm.NoModel, llm.NoMemory, llm.Refused, llm.Busy, llm.Stalled}, e.Fault)
}

// misses takes in that request e failed because no model was available, and reports whether t waits
// for one: it does if somebody asked for it.
func (s *State) misses(t *thought, e Event) bool {
	if t.unasked() || !Away(e.Err) {
		return false
	}
	t.again = e.Now.Add(min(backOff<<(2*min(t.missed, mostTries)), longestBackOff))
	if t.missed++; t.missed == 1 {
		s.acts = append(s.acts, Act{Kind: Wait, Question: t.Question, Err: e.Err})
	}
	return true
}

// keep asks to record what was added to a thought since its last segment, if anything was.
func (s *State) keep(t *thought, st Segment) {
	if len(t.text) == t.from && !st.Dropped && st.Outcome != earshot.Completed && st.Outcome != earshot.Asked {
		return
	}
	st.Cause, st.About, st.Question, st.Tokens = t.Cause, t.About, t.Question.Text, t.tokens
	st.Text = earshot.Text(t.text[t.from:])
	st.ID = t.ID
	if t.kept > 0 {
		st.ID, st.Of = s.NewID(), t.ID
	}
	t.last = st.ID
	if len(t.text) > t.from {
		t.spans = append(t.spans, Span{t.from, len(t.text), st.At, st.Cut})
	}
	t.from = len(t.text)
	t.kept++
	s.acts = append(s.acts, Act{Kind: Keep, Question: t.Question, Segment: st})
}

// sortedOut takes in that a distillation has ended or failed.
func (s *State) sortedOut(t *thought, e Event, stopping bool) {
	switch {
	case t.drop:
		s.abandon(t, e.Now)
		return
	case e.Err == nil:
		t.sorted, t.tries, t.missed = len(t.text), 0, 0
	case stopping || errors.Is(e.Err, llm.ErrParked):
	case s.misses(t, e):
	default:
		t.tries++
		t.again = e.Now.Add(backOff << (2 * (t.tries - 1)))
		if t.tries >= mostTries {
			t.sorted, t.tries = len(t.text), 0 // the text yields nothing
		}
	}
	if t.finished && t.sorted == len(t.text) {
		s.over(t, e.Now)
	}
}

// over ends a thought.
func (s *State) over(t *thought, now time.Time) {
	s.thoughts = slices.DeleteFunc(s.thoughts, func(o *thought) bool { return o == t })
	s.rest = now
	s.acts = append(s.acts, Act{Kind: Over, Question: t.Question, Found: t.found, Stopped: t.drop})
}

// steer makes thoughts take into account what somebody has said about them.
func (s *State) steer(e Event) {
	for _, t := range s.thoughts {
		if !e.Fit(t.Question) {
			continue
		}
		t.finished = t.full
		if t == s.current {
			s.giveWay(e.Cut)
		}
	}
}

// stop ends thoughts.
func (s *State) stop(e Event) {
	if s.fresh != nil && e.Fit(*s.fresh) {
		s.fresh = nil
	}
	for _, t := range slices.Clone(s.thoughts) {
		if e.Fit(t.Question) {
			s.dismiss(t, e.Cut, e.Now)
		}
	}
}

// dismiss ends a thought in favour of something else: at once, or when its request has ended.
func (s *State) dismiss(t *thought, by earshot.Interruption, now time.Time) {
	if t == s.current {
		t.drop, t.cut = true, by
		s.cancel()
		return
	}
	s.abandon(t, now)
}

// abandon ends a thought that has no request under way.
func (s *State) abandon(t *thought, now time.Time) {
	t.drop = true
	if t.kept > 0 {
		s.keep(t, Segment{At: now, Thought: earshot.Thought{Outcome: earshot.Suppressed, Dropped: true}})
	}
	s.over(t, now)
}

// close prevents anything from beginning.
func (s *State) close(now time.Time) {
	if s.closed {
		return
	}
	s.closed, s.fresh = true, nil
	s.giveWay(earshot.Interruption{Signal: ByEnding, At: now})
}

// advance begins what is due now. There is at most one request.
func (s *State) advance(now time.Time) {
	if s.closed {
		return
	}
	s.forget(now)
	if s.Rules.Sequential || !s.Rules.Continuous {
		s.fresh = nil
		s.mindBusiness(now)
	}
	if s.Rules.Off {
		s.giveWay(earshot.Interruption{Signal: ByRule, At: now})
		return
	}
	if s.current != nil {
		if s.current.unasked() && !s.sorts && s.thoughts[0].Cause.Asked() {
			s.giveWay(s.thoughts[0].instead(now))
		}
		return
	}
	if s.held {
		s.settleDown(now)
		return
	}
	if s.fresh != nil && len(s.thoughts) == 0 && !now.Before(s.rest.Add(s.Rules.Interval)) {
		s.thoughts, s.fresh = append(s.thoughts, &thought{Question: *s.fresh}), nil
	}
	for _, t := range s.thoughts {
		if !now.Before(t.again) {
			s.begin(t, t.finished, now)
			return
		}
	}
}

// instead returns the interruption by which a thought gives way to t. It names nobody if t was
// asked in private, because that concerns nobody else.
func (t *thought) instead(now time.Time) earshot.Interruption {
	by := earshot.Interruption{Signal: ByQuestion, At: now}
	if t.Visibility.Scope != earshot.Private {
		by.By = t.By
	}
	return by
}

// settleDown distils a thought that has been parked for a while, once in each hold.
func (s *State) settleDown(now time.Time) {
	if s.tried || now.Before(s.since.Add(settle)) {
		return
	}
	for _, t := range s.thoughts {
		if len(t.text) > t.sorted && !now.Before(t.again) {
			s.tried = true
			s.begin(t, true, now)
			return
		}
	}
}

// forget drops the thoughts that nobody asked for and that have been parked for too long.
func (s *State) forget(now time.Time) {
	for _, t := range slices.Clone(s.thoughts) {
		if t != s.current && t.unasked() && !t.parked.IsZero() && now.Sub(t.parked) > longestAside {
			s.over(t, now)
		}
	}
}

// mindBusiness ends the unfinished thoughts that nobody asked for, once such thoughts are switched
// off.
func (s *State) mindBusiness(now time.Time) {
	by := earshot.Interruption{Signal: ByRule, At: now}
	for _, t := range slices.Clone(s.thoughts) {
		if t.unasked() && !t.finished && !t.drop && !(t == s.current && s.sorts) {
			s.dismiss(t, by, now)
		}
	}
}

// begin begins a request for t.
func (s *State) begin(t *thought, sorts bool, now time.Time) {
	s.gen++
	s.current, s.sorts, s.stopping = t, sorts, false
	act := Act{Kind: Think, Gen: s.gen, Question: t.Question, Text: t.told(), Upto: t.upto, Goes: len(t.text) > 0}
	if sorts {
		act.Kind, act.Plain = Distil, t.tries > 0
	} else {
		t.began = now
	}
	s.acts = append(s.acts, act)
}

// told returns the text of a thought as the model sees it: with a break between segments.
func (t *thought) told() string {
	var b strings.Builder
	for _, s := range t.spans {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimSpace(string(t.text[s.From:s.To])))
	}
	return b.String()
}

// Due returns when a step is due if nothing happens; the zero time if none is.
func (s *State) Due() (at time.Time) {
	if s.closed || s.current != nil || s.Rules.Off {
		return at
	}
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	for _, t := range s.thoughts {
		switch {
		case s.held && (s.tried || len(t.text) == t.sorted):
		case s.held:
			sooner(later(t.again, s.since.Add(settle)))
		default:
			sooner(t.again)
		}
	}
	if s.fresh != nil && !s.held && len(s.thoughts) == 0 {
		sooner(s.rest.Add(s.Rules.Interval))
	}
	return at
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{b, a}, time.Time.Compare) }

// Busy reports whether there is anything to think about.
func (s *State) Busy() bool { return !s.closed && (len(s.thoughts) > 0 || s.fresh != nil) }
