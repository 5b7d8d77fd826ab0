package room

import (
	"time"

	"earshot/executive"
	"earshot/executive/question"
	"earshot/executive/turn"
)

// fillers are what is said while a reply is late, and lookups the same while the agent uses a tool
// for it. All are words, because the built-in voice spells "hm".
var (
	fillers = []string{"Let me see.", "One moment.", "Let me think."}
	lookups = []string{"Let me look.", "I am looking.", "One moment."}
)

// leastWait is how long a model has at least for its first words, even if the question has waited
// long: most models on the same machine need less.
const leastWait = 300 * time.Millisecond

// filler returns the sign that the reply to q is coming, nil if nobody wants one. It is the same
// for the same turn, so that a day can be replayed.
func (r *Room) filler(q *question.Question, set executive.Config) *turn.Filler {
	after := set.Speech.FillerAfter.Duration()
	if after <= 0 {
		return nil
	}
	work, id := q.Progress, q.Turn
	return &turn.Filler{
		After: max(leastWait, r.listener.End(q.Message).Add(after).Sub(r.cfg.Now())),
		Sign: func() string {
			some := fillers
			if using, _ := work.Quiet(); using {
				some = lookups
			}
			n := 0
			for _, b := range []byte(id) {
				n += int(b)
			}
			return some[n%len(some)]
		},
	}
}
