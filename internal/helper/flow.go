package helper

import "time"

// The most that a helper may send in a second, where each message counts as its length and
// overhead. Correct ones stay far below: some fifty control messages, and sound a few hundred
// times as fast as it plays.
var (
	mostControl = 8 << 20
	mostSound   = 128 << 20
)

// overhead is the cost of handling a message besides its length, in bytes that could have been
// copied meanwhile, on the safe side.
const overhead = 1 << 10

// A rateLimiter counts what came within a second.
type rateLimiter struct {
	most, came int
	since      time.Time
}

// over counts a message of n bytes, and reports whether it is one too many.
func (f *rateLimiter) over(now time.Time, n int) bool {
	if now.Sub(f.since) >= time.Second {
		f.since, f.came = now, 0
	}
	f.came += n + overhead
	return f.came > f.most
}
