package room

import "time"

// A rateLimit is how often something may be done: most times at once, and then once in each every,
// as a token bucket.
type rateLimit struct {
	most  int
	every time.Duration
}

// A tokenBucket is what was spent of a rateLimit. The zero value has spent nothing.
type tokenBucket struct{ until time.Time } // when all tokens will be back

// take spends one token at a time, and reports whether there was one to spend.
func (s *tokenBucket) take(a rateLimit, at time.Time) bool {
	if s.until.Sub(at) > time.Duration(a.most-1)*a.every {
		return false
	}
	if s.until.Before(at) {
		s.until = at
	}
	s.until = s.until.Add(a.every)
	return true
}
