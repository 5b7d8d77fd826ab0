package room

import (
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/turn"
)

// A latencyTrace is what is measured of a question and its turn: when what happened, and how far
// it is. It may be used from many goroutines. What it costs a turn is a few moments, and
// nothing for each token.
type latencyTrace struct {
	said    time.Time // when it was said to its end; zero for what was written
	came    time.Time // when the room was told of it, or began it by itself
	decided time.Time
	began   time.Time // the turn

	watch turn.Tracker

	mu         sync.Mutex
	asked      time.Time          // when a model was asked first
	token      time.Time          // when it said something first
	visibility earshot.Visibility // who may see all that the reply is made of by now
}

// asks notes that a model is asked.
func (p *latencyTrace) asks(now time.Time) { p.once(func() *time.Time { return &p.asked }, now) }

// answers notes that it says something.
func (p *latencyTrace) answers(now time.Time) { p.once(func() *time.Time { return &p.token }, now) }

func (p *latencyTrace) once(when func() *time.Time, now time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := when(); at.IsZero() {
		*at = now
	}
}

// rests notes who may see what the reply is made of from now on.
func (p *latencyTrace) rests(v earshot.Visibility) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.visibility = v
	p.mu.Unlock()
	if p.watch.Moved != nil {
		p.watch.Moved()
	}
}

// shows reports whether everybody in a may see all that the reply is made of.
func (p *latencyTrace) shows(a earshot.Audience) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visibility.Allows(a)
}

// A Stage is one of a turn by its name, and how long it lasted.
type Stage struct {
	Name string
	Took time.Duration
}

// Stages returns the stages to which a turn came, and beside them the whole of it.
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

// latency returns how long the turn of q took, which has ended at now.
func (q question) latency(reply earshot.Reply, now time.Time) api.Latency {
	l := api.Latency{Turn: q.turn, Agent: q.seat.ID, About: q.about(), Outcome: reply.Outcome, Reflex: reply.Reflex, Aloud: q.aloud, Unasked: q.unbidden()}
	p := q.trace
	if p == nil {
		return l
	}
	m := p.watch.Timings()
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Reflex {
		p.asked, p.token = time.Time{}, time.Time{} // as where a reflex stands in for a model
	}
	l.At = p.came
	began := p.came
	if !p.said.IsZero() && p.said.Before(p.came) {
		began = p.said
	}
	at := began
	for _, stage := range []struct {
		until time.Time
		took  *time.Duration
	}{
		{p.came, &l.Hear}, {p.decided, &l.Decide}, {p.began, &l.Queue}, {p.asked, &l.Ask}, {p.token, &l.FirstToken},
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

// keepTurns is how many of the last turns are told of.
const keepTurns = 16

// A latencyRecord is how long a turn took, and who may know of it.
type latencyRecord struct {
	api.Latency
	whom       earshot.ParticipantID
	visibility earshot.Visibility
	before     bool // the program began, so that nothing was measured
}

// latencies are some, the oldest first.
type latencies []latencyRecord

// note adds one. Of each circle of people so many are kept as are told of: so nobody can
// tell by what is gone what happened where they may not look. Of circles there are no
// more than can wait to be answered; beyond that the one goes that has been quiet for
// longest, but for what all may see.
func (t *latencies) note(one latencyRecord) {
	same := func(other latencyRecord) bool { return together(one.visibility, other.visibility) }
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

// bound forgets the private circle that has been quiet for longest, if there are too many.
func (t *latencies) bound() {
	var last []earshot.Visibility // of each private circle, the one that spoke last first
	for _, had := range slices.Backward(*t) {
		if had.visibility.Scope == earshot.Private && !slices.ContainsFunc(last, func(v earshot.Visibility) bool { return together(v, had.visibility) }) {
			last = append(last, had.visibility)
		}
	}
	if len(last) >= maxCircles {
		quiet := last[len(last)-1]
		*t = slices.DeleteFunc(*t, func(had latencyRecord) bool { return together(had.visibility, quiet) })
	}
}

// seen returns the newest that everybody in a may know of, the oldest first.
func (t latencies) seen(a earshot.Audience) (all []api.Latency) {
	for _, one := range t {
		if !one.before && one.visibility.Allows(a) {
			all = append(all, one.Latency)
		}
	}
	return all[max(0, len(all)-keepTurns):]
}

// Latencies returns how long the last turns took, whoever may know of them: for who
// looks after the house, and shows none of what they were about.
func (r *Room) Latencies() (all []api.Latency) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.latencies {
		if !t.before {
			all = append(all, t.Latency)
		}
	}
	return all
}

// partner returns whom an agent has talked with last, as far as everybody in a may know
// it: that it has talked with somebody else since is nobody's business then.
func (t latencies) partner(agent earshot.ParticipantID, a earshot.Audience) earshot.ParticipantID {
	for _, one := range slices.Backward(t) {
		if one.Agent == agent && one.whom != "" && one.visibility.Allows(a) {
			return one.whom
		}
	}
	return ""
}
