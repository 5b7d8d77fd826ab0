package turn

import (
	"time"

	"earshot"
)

// A Filler is a short sign that a reply is coming which is late.
type Filler struct {
	After time.Duration // from when the turn begins; at once if it is not positive
	Sign  func() string // what is said; nothing if it is empty
}

// fillers are what is said while a reply is late, and lookups the same while the agent uses a tool
// for it. All are words, because the built-in voice spells "hm".
var (
	fillers = []string{"Let me see.", "One moment.", "Let me think."}
	lookups = []string{"Let me look.", "I am looking.", "One moment."}
)

// leastWait is how long a model has at least for its first words, even if the question has waited
// long: most models on the same machine need less.
const leastWait = 300 * time.Millisecond

// NewFiller returns the filler of a turn, due after a time, but not before most models have begun to
// answer. working reports whether the agent uses a tool just then. The words are the same for the
// same turn, so that a day can be replayed.
func NewFiller(id earshot.TurnID, after time.Duration, working func() bool) *Filler {
	return &Filler{
		After: max(leastWait, after),
		Sign: func() string {
			some := fillers
			if working() {
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
