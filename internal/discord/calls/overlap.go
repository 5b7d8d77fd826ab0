package calls

import (
	"maps"
	"sync"
	"time"
)

const (
	// breath is the longest silence within one stretch of speech.
	breath = 200 * time.Millisecond

	// together is how long somebody else must speak during an utterance for the two to overlap:
	// longer than a click, shorter than a word.
	together = 200 * time.Millisecond

	// stretches is how many stretches of one person are remembered: an utterance lasts half a
	// minute at most, and has no more.
	stretches = 128

	// longAgo is the age after which a stretch is not needed any more: later than an utterance of
	// half a minute is recognised.
	longAgo = 2 * time.Minute
)

// An overlapTracker knows who spoke when in one call, to tell who spoke at the same time.
type overlapTracker struct {
	mu    sync.Mutex
	spoke map[uint64][]stretch
}

// A stretch is a period in which a voice was heard.
type stretch struct{ from, to time.Time }

// speaks records that the voice of a user was heard for a while at a time. The times of one user
// do not go back far.
func (c *overlapTracker) speaks(user uint64, at time.Time, lasts time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spoke == nil {
		c.spoke = make(map[uint64][]stretch)
	}
	all, known := c.spoke[user]
	if !known {
		maps.DeleteFunc(c.spoke, func(_ uint64, all []stretch) bool { return at.Sub(all[len(all)-1].to) > longAgo })
	}
	if n := len(all); n > 0 && at.Sub(all[n-1].to) <= breath {
		all[n-1].to = at.Add(lasts)
		return
	}
	if len(all) == stretches {
		all = append(all[:0], all[1:]...)
	}
	c.spoke[user] = append(all, stretch{at, at.Add(lasts)})
}

// forget forgets when a user spoke.
func (c *overlapTracker) forget(user uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.spoke, user)
}

// overlaps reports whether anybody else spoke while a user did.
func (c *overlapTracker) overlaps(user uint64, from, to time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, all := range c.spoke {
		if other == user {
			continue
		}
		var sum time.Duration
		for _, s := range all { // the shortest way from a beginning to an end is what both have
			sum += max(0, min(to.Sub(from), to.Sub(s.from), s.to.Sub(from), s.to.Sub(s.from)))
		}
		if sum >= together {
			return true
		}
	}
	return false
}
