package room

import (
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive/turn"
)

// A latencyTrace holds the measurements of a question and its turn: when what happened, and how far
// it is. It is safe for concurrent use. It costs a turn a few clock readings, and nothing for each
// token.
type latencyTrace struct {
	said    time.Time // when the speaker finished; zero for a written message
	came    time.Time // when the room received it, or began it by itself
	decided time.Time
	began   time.Time // when the turn began

	watch turn.Tracker

	mu         sync.Mutex
	asked      time.Time          // when a model was first asked
	token      time.Time          // when it first said something
	visibility earshot.Visibility // who may see everything that the reply is made from so far
}

// asks notes that a model is asked.
func (p *latencyTrace) asks(now time.Time) { p.once(func() *time.Time { return &p.asked }, now) }

// answers notes that the model says something.
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

// rests notes who may see what the reply is made from, from now on.
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

// shows reports whether everybody in a may see everything that the reply is made from.
func (p *latencyTrace) shows(a earshot.Audience) bool {
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

// latency returns how long the turn of q took, which ended at now.
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
		p.asked, p.token = time.Time{}, time.Time{} // as when a reflex stands in for a model
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

// keepTurns is for how many of the last turns latencies are reported.
const keepTurns = 16

// A latencyRecord is the latency of a turn, with who may know it.
type latencyRecord struct {
	api.Latency
	whom       earshot.ParticipantID
	visibility earshot.Visibility
	before     bool // from before the program began, so nothing was measured
}

// latencies are latency records, oldest first.
type latencies []latencyRecord

// note adds a record. It keeps keepTurns for each group of people, so that nobody can tell from
// missing records what happened where they may not look. There are no more groups than can wait for
// an answer; beyond that the group that has been quiet longest is dropped, but not the public one.
func (t *latencies) note(one latencyRecord) {
	same := func(other latencyRecord) bool { return conversation.SameCircle(one.visibility, other.visibility) }
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
func (t *latencies) bound() {
	var last []earshot.Visibility // one for each private group, the one that spoke last first
	for _, had := range slices.Backward(*t) {
		if had.visibility.Scope == earshot.Private && !slices.ContainsFunc(last, func(v earshot.Visibility) bool { return conversation.SameCircle(v, had.visibility) }) {
			last = append(last, had.visibility)
		}
	}
	if len(last) >= maxCircles {
		quiet := last[len(last)-1]
		*t = slices.DeleteFunc(*t, func(had latencyRecord) bool { return conversation.SameCircle(had.visibility, quiet) })
	}
}

// seen returns the newest records that everybody in a may know, oldest first.
func (t latencies) seen(a earshot.Audience) (all []api.Latency) {
	for _, one := range t {
		if !one.before && one.visibility.Allows(a) {
			all = append(all, one.Latency)
		}
	}
	return all[max(0, len(all)-keepTurns):]
}

// Latencies returns how long the last turns took, whoever may know them. It is for those who look
// after the program, and shows nothing of what the turns were about.
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

// partner returns whom an agent talked with last, as far as everybody in a may know it: whether it
// has talked with somebody else since is nobody's business.
func (t latencies) partner(agent earshot.ParticipantID, a earshot.Audience) earshot.ParticipantID {
	for _, one := range slices.Backward(t) {
		if one.Agent == agent && one.whom != "" && one.visibility.Allows(a) {
			return one.whom
		}
	}
	return ""
}
