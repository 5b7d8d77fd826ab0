package audio

import (
	"slices"
	"time"
)

const (
	// beyond is how far what a server says of a latency may be from what is believed,
	// and still be the same one: it says how much lies in a buffer at some moment,
	// which is up to a period more or less at the next.
	beyond = 10 * time.Millisecond

	// insisting is how often in sequence it must say so to be believed.
	insisting = 10
)

// A Latency is how long sound is on its way through a sound server. What the server
// says of it goes up and down with how full its buffers happen to be; asked again and
// again it goes up and down slowly, as if one device were faster than another, which
// no canceller follows. So it stays what it was until the server has insisted on
// another. The zero value is ready; it is for one goroutine at a time.
type Latency struct {
	held  time.Duration
	known bool
	other [insisting]time.Duration // what was said since it was last near held
	n     int                      // of other
}

// Note takes in what the server says, and returns what is believed.
func (l *Latency) Note(said time.Duration) time.Duration {
	switch off := said - l.held; {
	case !l.known:
		l.held, l.known = said, true
	case off.Abs() <= beyond, l.n > 0 && (off > 0) != (l.other[0] > l.held):
		l.n = 0
	default:
		l.other[l.n] = said
		l.n++
	}
	if l.n == insisting {
		slices.Sort(l.other[:])
		l.held, l.n = l.other[insisting/2], 0
	}
	return l.held
}
