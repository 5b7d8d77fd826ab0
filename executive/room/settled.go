package room

import (
	"slices"

	"earshot"
	"earshot/executive/question"
)

// await notes that somebody may wait for what comes to a message that is kept.
func (r *Room) await(e earshot.Event) {
	if e.Body.Kind() != earshot.KindMessage || e.Via == "" {
		return
	}
	if r.awaited == nil {
		r.awaited = make(map[earshot.EventID]string)
	}
	r.awaited[e.ID] = e.Via
}

// release tells the waiting callers that nothing more will come to a message: no turn is live, and
// no question waits, that began with it.
func (r *Room) release() {
	r.mu.Lock()
	live := r.activeTurn
	r.mu.Unlock()
	for id, via := range r.awaited {
		goes := func(q question.Question) bool { return q.Origin() == id }
		if live != nil && goes(live.Question) || slices.ContainsFunc(r.pending, goes) {
			continue
		}
		delete(r.awaited, id)
		e := r.event(earshot.Visibility{Scope: earshot.System}, earshot.Settled{About: id})
		r.notices.Outlets.ShowAt(via, e)
	}
}
