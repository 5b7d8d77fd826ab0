// Package latency measures how long the turns of a room take, stage by stage, and keeps the last
// ones for those who may know of them.
package latency

import (
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive/turn"
)

// A Trace holds the measurements of a question and its turn: when what happened, and how far
// it is. It is safe for concurrent use. It costs a turn a few clock readings, and nothing for each
// token.
type Trace struct {
	Said    time.Time // when the speaker finished; zero for a written message
	Came    time.Time // when the room received it, or began it by itself
	Decided time.Time
	Began   time.Time // when the turn began

	Tracker turn.Tracker

	mu         sync.Mutex
	asked      time.Time          // when a model was first asked
	token      time.Time          // when it first said something
	visibility earshot.Visibility // who may see everything that the reply is made from so far
}

// NewTrace returns the trace of the answer to an event that came, and about which was decided.
func NewTrace(e earshot.Event, came, decided time.Time) *Trace {
	p := &Trace{Came: came, Decided: decided}
	if u, aloud := e.Body.(earshot.Utterance); aloud && u.Lasted > 0 {
		p.Said = e.End()
	}
	return p
}

// MarkRequest notes when a model is first asked.
func (p *Trace) MarkRequest(now time.Time) { p.once(func() *time.Time { return &p.asked }, now) }

// MarkFirstToken notes when the model first says something.
func (p *Trace) MarkFirstToken(now time.Time) { p.once(func() *time.Time { return &p.token }, now) }

func (p *Trace) once(when func() *time.Time, now time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := when(); at.IsZero() {
		*at = now
	}
}

// SetVisibility notes who may see what the reply is made from, from now on.
func (p *Trace) SetVisibility(v earshot.Visibility) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.visibility = v
	p.mu.Unlock()
	if p.Tracker.Moved != nil {
		p.Tracker.Moved()
	}
}

// VisibleTo reports whether everybody in a may see everything that the reply is made from.
func (p *Trace) VisibleTo(a earshot.Audience) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visibility.Allows(a)
}

// A Stage is a stage of a turn, by name, and how long it lasted.
type Stage struct {
	Name string
	Took time.Duration
}

// Stages returns the stages that a turn reached, and its total time.
func Stages(l api.Latency) (all []Stage) {
	all = append(all, Stage{"decide", l.Decide}, Stage{"queue", l.Queue}, Stage{"total", l.Total})
	for _, s := range []Stage{
		{"hear", l.Hear}, {"ask", l.Ask}, {"first_token", l.FirstToken}, {"first_clause", l.FirstClause},
		{"first_heard", l.FirstHeard}, {"rest", l.Rest}, {"wait", l.Wait}, {"silence", l.Silence},
	} {
		if s.Took > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Latency returns l with how long the turn took, which ended at now.
func (p *Trace) Latency(l api.Latency, now time.Time) api.Latency {
	if p == nil {
		return l
	}
	m := p.Tracker.Timings()
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Reflex {
		p.asked, p.token = time.Time{}, time.Time{} // as when a reflex stands in for a model
	}
	l.At = p.Came
	began := p.Came
	if !p.Said.IsZero() && p.Said.Before(p.Came) {
		began = p.Said
	}
	at := began
	for _, stage := range []struct {
		until time.Time
		took  *time.Duration
	}{
		{p.Came, &l.Hear}, {p.Decided, &l.Decide}, {p.Began, &l.Queue}, {p.asked, &l.Ask}, {p.token, &l.FirstToken},
		{m.Clause, &l.FirstClause}, {m.Heard, &l.FirstHeard}, {now, &l.Rest},
	} {
		if !stage.until.IsZero() {
			*stage.took = max(0, stage.until.Sub(at))
			at = stage.until
		}
	}
	if !m.Heard.IsZero() {
		l.Wait = max(0, m.Heard.Sub(began))
	}
	l.Total = max(0, now.Sub(began))
	if !m.Cut.IsZero() && !m.Over.IsZero() {
		l.Silence = max(0, m.Over.Sub(m.Cut))
	}
	return l
}

// keepTurns is for how many of the last turns latencies are reported.
const keepTurns = 16

// A Record is the latency of a turn, with who may know it.
type Record struct {
	api.Latency
	Whom       earshot.ParticipantID
	Visibility earshot.Visibility
	Unmeasured bool // from before the program began, so nothing was measured
}

// A Log holds latency records, oldest first.
type Log []Record

// Add adds a record. It keeps keepTurns for each group of people, so that nobody can tell from
// missing records what happened where they may not look. There are no more groups than can wait for
// an answer; beyond that the group that has been quiet longest is dropped, but not the public one.
func (t *Log) Add(one Record) {
	same := func(other Record) bool { return conversation.SameCircle(one.Visibility, other.Visibility) }
	*t = append(*t, one)
	n := 0
	for i := len(*t) - 1; i >= 0; i-- {
		if !same((*t)[i]) {
			continue
		}
		if n++; n > keepTurns {
			*t = slices.Delete(*t, i, i+1)
		}
	}
	t.bound()
}

// bound forgets the private group that has been quiet longest, if there are too many.
func (t *Log) bound() {
	var last []earshot.Visibility // one for each private group, the one that spoke last first
	for _, had := range slices.Backward(*t) {
		if had.Visibility.Scope == earshot.Private && !slices.ContainsFunc(last, func(v earshot.Visibility) bool { return conversation.SameCircle(v, had.Visibility) }) {
			last = append(last, had.Visibility)
		}
	}
	if len(last) >= conversation.MaxCircles {
		quiet := last[len(last)-1]
		*t = slices.DeleteFunc(*t, func(had Record) bool { return conversation.SameCircle(had.Visibility, quiet) })
	}
}

// Seen returns the newest records that everybody in a may know, oldest first.
func (t Log) Seen(a earshot.Audience) (all []api.Latency) {
	for _, one := range t {
		if !one.Unmeasured && one.Visibility.Allows(a) {
			all = append(all, one.Latency)
		}
	}
	return all[max(0, len(all)-keepTurns):]
}

// All returns the newest, the oldest first.
func (t Log) All() (all []api.Latency) {
	for _, one := range t {
		if !one.Unmeasured {
			all = append(all, one.Latency)
		}
	}
	return all
}

// Partner returns whom an agent talked with last, as far as everybody in a may know it: whether it
// has talked with somebody else since is nobody's business.
func (t Log) Partner(agent earshot.ParticipantID, a earshot.Audience) earshot.ParticipantID {
	for _, one := range slices.Backward(t) {
		if one.Agent == agent && one.Whom != "" && one.Visibility.Allows(a) {
			return one.Whom
		}
	}
	return ""
}
