package room

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/addressing"
	"earshot/executive/latency"
	"earshot/executive/question"
	"earshot/executive/scene"
)

// Snapshot returns the room as everybody in a may know it now. It changes nothing, waits for
// nobody, and is safe for concurrent use.
func (r *Room) Snapshot(a earshot.Audience) api.Snapshot {
	now := r.cfg.Now()
	s := api.Snapshot{At: now, RoomState: r.State(a), Scene: r.shownScene(a, now), Thoughts: r.mind.Live(a), Words: r.interims.VisibleTo(a)}
	if r.cfg.Parts != nil {
		s.Parts = r.cfg.Parts()
	}
	var agent earshot.ParticipantID
	r.mu.Lock()
	live := r.activeTurn
	if live != nil {
		agent = live.Seat.ID
	}
	s.Turns = r.latencies.Seen(a)
	r.mu.Unlock()
	if g, ok := r.activeReply(live, agent, a); ok {
		s.Replies = append(s.Replies, g)
	}
	return s
}

// partners fills in with whom the agents of s talk. r.mu must be held.
func (r *Room) partners(s *api.RoomState, a earshot.Audience) {
	for i, seat := range s.Agents {
		s.Agents[i].Partner = r.latencies.Partner(seat.ID, a)
		if l := r.activeTurn; l != nil && l.Seat.ID == seat.ID && l.Trace.VisibleTo(a) && l.Message.Visibility.Allows(a) {
			s.Agents[i].Partner = l.Whom()
		}
	}
}

// activeReply returns the live turn of an agent, if everybody in a may know it.
func (r *Room) activeReply(l *activeTurn, agent earshot.ParticipantID, a earshot.Audience) (g api.LiveReply, ok bool) {
	if l == nil {
		return g, false
	}
	is := l.Trace.Tracker.Progress() // before it is asked who may see it: those get fewer meanwhile
	if !l.Rests.Visibility.Allows(a) || !l.Trace.VisibleTo(a) {
		return g, false
	}
	g = api.LiveReply{
		Turn: l.Turn, Agent: agent, About: l.About(), To: l.Whom(), Since: l.Trace.Began,
		Text: is.Text, Heard: is.Heard, Paused: is.Paused, Private: l.Rests.Visibility.Scope == earshot.Private,
	}
	if l.Progress != nil {
		g.Tool = l.Progress.Work(r.cfg.Now()).Using
	}
	return g, true
}

// shownScene returns the scene as everybody in a may know it, without a word to the scene itself.
// If there are several agents, it names the agent of each state.
func (r *Room) shownScene(a earshot.Audience, now time.Time) (all []api.SceneFact) {
	agents := addressing.IDs(r.agents())
	for _, i := range r.scene.For(a).Recent(now, r.cfg.Settings().ContextWindow.Duration()) {
		if i.Field == scene.Agent && !slices.Contains(agents, i.Of) {
			continue // it has no seat any more
		}
		if len(agents) > 1 {
			i = r.attributed(i)
		}
		all = append(all, api.SceneFact{
			ID: i.ID, Field: string(i.Field), Of: i.Of, By: i.By, Text: earshot.Text(i.Line()), At: i.At, Source: i.Source,
			Confidence: i.Confidence, Until: i.Until, Watched: i.Watched, Private: i.Visibility.Scope == earshot.Private,
		})
	}
	return all
}

// Changed returns a channel that is closed when a snapshot would differ from one that is taken
// after this call. It may also be closed by a change that its holder may not see. Mere ageing does
// not close it.
func (r *Room) Changed() <-chan struct{} { return r.pulse.next() }

// A pulse wakes the callers that wait for a change. The zero value is ready. While nobody waits, a
// beat only reads a flag.
type pulse struct {
	waited atomic.Bool
	mu     sync.Mutex
	beats  chan struct{} // nil if nobody waits
}

// next returns a channel that is closed by the next beat.
func (p *pulse) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beats == nil {
		p.beats = make(chan struct{})
		p.waited.Store(true)
	}
	return p.beats
}

// beat reports a change. It never blocks.
func (p *pulse) beat() {
	if !p.waited.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beats != nil {
		close(p.beats)
		p.beats = nil
	}
	p.waited.Store(false)
}

// startLatencyTrace returns the trace that measures the answer to an entry.
func (r *Room) startLatencyTrace(e *entry) *latency.Trace {
	p := &latency.Trace{Came: e.came, Decided: r.cfg.Now()}
	if u, aloud := e.event.Body.(earshot.Utterance); aloud && u.Lasted > 0 {
		p.Said = r.listener.End(e.event)
	}
	return p
}

// traceTurnBegin records that the turn of q begins.
func (r *Room) traceTurnBegin(q *question.Question) {
	now := r.cfg.Now()
	if q.Trace == nil {
		q.Trace = &latency.Trace{Came: now}
	}
	q.Trace.Began = now
	q.Trace.Tracker.Now, q.Trace.Tracker.Moved = r.cfg.Now, r.pulse.beat
}

// Latencies returns how long the last turns took, whoever may know them. It is for those who look
// after the program, and shows nothing of what the turns were about.
func (r *Room) Latencies() (all []api.Latency) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latencies.All()
}

// recordLatency records how long a turn took.
func (r *Room) recordLatency(t latency.Record) {
	r.mu.Lock()
	r.latencies.Add(t)
	r.mu.Unlock()
	r.pulse.beat()
	if r.cfg.Took != nil {
		r.cfg.Took(t.Latency)
	}
}

// dropping reports that something was given up because a queue was full.
func (r *Room) dropping(queue string, n int) {
	if r.cfg.Dropped != nil {
		r.cfg.Dropped(queue, n)
	}
}
