package room

import "time"

// An allowance is how often something may be done: so many times at once, and then once
// in so long, a token bucket.
type allowance struct {
	most  int
	every time.Duration
}

// A spending is what was spent of an allowance. The zero value has spent nothing.
type spending struct{ until time.Time } // when all will be back

// take spends one at a time, and reports whether there was one to spend.
func (s *spending) take(a allowance, at time.Time) bool {
	if s.until.Sub(at) > time.Duration(a.most-1)*a.every {
		return false
	}
	if s.until.Before(at) {
		s.until = at
	}
	s.until = s.until.Add(a.every)
	return true
}
