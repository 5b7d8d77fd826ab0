package room

import (
	"earshot"
	"earshot/api"
	"earshot/executive/latency"
	"earshot/executive/snapshot"
)

// Snapshot returns the room as everybody in a may know it now. It changes nothing, waits for
// nobody, and is safe for concurrent use.
func (r *Room) Snapshot(a earshot.Audience) api.Snapshot {
	now := r.cfg.Now()
	s := api.Snapshot{At: now, RoomState: r.State(a), Scene: snapshot.Facts(r.sceneFor(a, now)), Thoughts: r.mind.Live(a), Words: r.interims.VisibleTo(a)}
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
	if live == nil {
		return s
	}
	if l, ok := snapshot.Reply(&live.Question, agent, a, now); ok {
		s.Replies = append(s.Replies, l)
	}
	return s
}

// Changed returns a channel that is closed when a snapshot would differ from one that is taken
// after this call. It may also be closed by a change that its holder may not see. Mere ageing does
// not close it.
func (r *Room) Changed() <-chan struct{} { return r.changes.Changed() }

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
	r.changes.Notify()
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
