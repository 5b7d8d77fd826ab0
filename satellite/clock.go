package satellite

import "time"

// clockSamples is how many answers are remembered: half a minute, in which a crystal that is off by
// 100 parts in a million drifts 3 ms.
const clockSamples = 32

// A Clock knows by how much the clock of another machine is ahead of ours. Of the last answers it
// believes the one that came fastest, as NTP does (RFC 5905, section 10): the offset is wrong by at
// most half of its round trip. The zero value knows nothing. It is for one goroutine.
type Clock struct {
	samples [clockSamples]clockSample // a ring
	n       int                       // answers so far
}

type clockSample struct{ offset, trip time.Duration }

// Add takes an answer: the other clock showed at between asked and answered.
func (c *Clock) Add(asked, at, answered time.Time) {
	trip := max(0, answered.Sub(asked))
	s := clockSample{at.Sub(asked) - trip/2, trip}
	if best, ok := c.best(); ok && (s.offset-best.offset).Abs() > (s.trip+best.trip)/2+clockSamples*ClockEvery/10_000 {
		c.n = 0 // more than the trips and drift explain: one of the clocks was set
	}
	c.samples[c.n%clockSamples] = s
	c.n++
}

// best returns the sample with the shortest trip, the latest of equals.
func (c *Clock) best() (best clockSample, ok bool) {
	for i := max(0, c.n-clockSamples); i < c.n; i++ {
		if s := c.samples[i%clockSamples]; !ok || s.trip <= best.trip {
			best, ok = s, true
		}
	}
	return best, ok
}

// Offset returns by how much the other clock is ahead, and by how much that may be wrong; false if
// there was no answer yet.
func (c *Clock) Offset() (offset, within time.Duration, ok bool) {
	s, ok := c.best()
	return s.offset, s.trip / 2, ok
}
