package room

import (
	"slices"

	"earshot"
	"earshot/executive/question"
)

// settleMessages tells those who wait that nothing more will come to a message: no turn is live, and
// no question waits, that began with it.
func (r *Room) settleMessages() {
	live, _ := r.live.question()
	r.notices.Settle(func(message earshot.EventID) bool {
		goes := func(q question.Question) bool { return q.Origin() == message }
		return (live == nil || !goes(*live)) && !slices.ContainsFunc(r.pending, goes)
	})
}
