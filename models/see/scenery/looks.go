package scenery

import "time"

// Looks says when detectors, which are expensive, examine a picture: while something moves, at
// most once a second; some times after that, to see who is left; and now and then while something
// unusual is there. The zero value is ready; it is for one goroutine.
type Looks struct {
	last  time.Time // when they last ran
	moved time.Time // when something moved
	after int       // how often they have run since
}

const (
	// each is the least time between two looks.
	each = time.Second

	// afterwards is how often they look after motion has stopped, each wait twice as long as the
	// last: after 1, 2, 4, 8 and 16 seconds.
	afterwards = 5

	// around is how often they look while nothing moves and something is new.
	around = time.Minute

	// something is the share of the picture that is new when something is there.
	something = 0.01
)

// Due reports whether the detectors are to look at the picture of a time, which they then must do.
func (l *Looks) Due(at time.Time, v View) bool {
	if v.Motion > Still || v.Cut {
		l.moved, l.after = at, 0
	}
	wait := around
	switch {
	case l.moved.IsZero():
		return false
	case l.moved.Equal(at):
		wait = each
	case l.after < afterwards:
		wait = each << l.after
	case v.Novelty < something:
		return false
	}
	if at.Sub(l.last) < wait {
		return false
	}
	if !l.moved.Equal(at) {
		l.after++
	}
	l.last = at
	return true
}
