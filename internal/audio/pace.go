package audio

import (
	"math"
	"slices"
	"time"
)

const (
	// bundled is how many notes make one point of the line: what one of them says
	// is off by milliseconds, their median hardly.
	bundled = 50

	// remembered is how many points the line is drawn through: minutes, since a
	// crystal drifts by a hundredth of a millisecond in a second.
	remembered = 256

	// drifting is how much clocks differ before anything is known about them, one
	// standard deviation: most devices share a crystal or have a good one.
	drifting = 50e-6

	// driftMost is more than any crystal is off.
	driftMost = 300e-6

	// leapt is how far a point must be from the line, in seconds, so that sound
	// was lost or put in: a device stutters by a period of 5 ms or more. Two
	// points in sequence must say so.
	leapt = 0.005
)

// A Pace follows how a device counts: at which time each of its samples was
// captured, or is heard, by a clock that is not its own. It is told times that
// jitter, and draws a straight line through the medians of many; so it knows how
// fast the device really is. Sound that was lost, or silence that was put in,
// moves the line and does not bend it. It has no clock; the zero value is ready,
// and it is for one goroutine at a time.
type Pace struct {
	began time.Time // what offsets count from; zero before the first note
	seen  [bundled]float64
	taken int     // of seen
	sum   float64 // of where they are, in seconds of the device

	points [remembered]point
	count  int  // of points, ever
	loose  bool // the line is to be moved to what is seen next
	doubt  int  // points in sequence that were far from the line

	mid, level, slope float64 // the line: level + slope*(t-mid)
}

// A point says that t seconds into the device's count its samples came o
// seconds later than they would by the other clock.
type point struct{ t, o float64 }

// Note says that sample n was captured, or is heard, at about that time. Samples
// and times go forward.
func (p *Pace) Note(n int64, at time.Time) {
	t := float64(n) / Rate
	if p.began.IsZero() {
		p.began, p.loose = at.Add(-time.Duration(t*float64(time.Second))), true
	}
	p.seen[p.taken] = at.Sub(p.began).Seconds() - t
	p.sum += t
	p.taken++
	if p.loose {
		p.settle()
	}
	if p.taken == bundled {
		p.add(point{p.sum / bundled, p.median()})
		p.taken, p.sum = 0, 0
	}
}

// Leap says that the next note is unrelated to those before, except for the speed of the device:
// it was stopped, or its distance is different.
func (p *Pace) Leap() { p.taken, p.sum, p.doubt, p.loose = 0, 0, 0, true }

// Known reports whether any note came since the beginning or the last leap.
func (p *Pace) Known() bool { return !p.began.IsZero() && (p.taken > 0 || !p.loose) }

// Sample returns which sample is due at a time, with its fraction.
func (p *Pace) Sample(at time.Time) float64 {
	w := at.Sub(p.began).Seconds() // t + level + slope*(t-mid) = w
	return Rate * (w - p.level + p.slope*p.mid) / (1 + p.slope)
}

// Time returns when sample n is due.
func (p *Pace) Time(n float64) time.Time {
	t := n / Rate
	return p.began.Add(time.Duration((t + p.level + p.slope*(t-p.mid)) * float64(time.Second)))
}

// Speed returns how fast the device is: 1.0001 if it is 100 ppm fast.
func (p *Pace) Speed() float64 { return 1 / (1 + p.slope) }

// median returns that of the offsets that were seen.
func (p *Pace) median() float64 {
	sorted := p.seen
	some := sorted[:p.taken]
	slices.Sort(some)
	return some[len(some)/2]
}

// settle moves the line to what was seen since it was lost.
func (p *Pace) settle() {
	p.move(p.median() - p.line(p.sum/float64(p.taken)))
}

// line returns the offset that is expected at t.
func (p *Pace) line(t float64) float64 { return p.level + p.slope*(t-p.mid) }

// move moves the line, and what it was drawn through.
func (p *Pace) move(by float64) {
	p.level += by
	for i := range min(p.count, remembered) {
		p.points[i].o += by
	}
}

// add takes in a point, unless it may be one bad second.
func (p *Pace) add(q point) {
	off := q.o - p.line(q.t)
	switch {
	case p.loose:
		p.loose = false
	case math.Abs(off) <= leapt:
		p.doubt = 0
	case p.doubt == 0:
		p.doubt = 1
		return
	default:
		p.doubt = 0
		p.move(off)
	}
	p.points[p.count%remembered] = q
	p.count++
	p.draw()
}

// draw draws the line anew: through the middle of the points, with the slope of
// least squares as far as their scatter lets it be believed.
func (p *Pace) draw() {
	n := float64(min(p.count, remembered))
	some := p.points[:int(n)]
	var t, o float64
	for _, q := range some {
		t, o = t+q.t/n, o+q.o/n
	}
	var tt, to, oo float64
	for _, q := range some {
		tt, to, oo = tt+(q.t-t)*(q.t-t), to+(q.t-t)*(q.o-o), oo+(q.o-o)*(q.o-o)
	}
	slope := 0.0
	if n > 2 && tt > 0 {
		noise := max(oo-to*to/tt, n*scatter*scatter) / (n - 2)
		slope = to / tt * drifting * drifting / (drifting*drifting + noise/tt)
	}
	p.mid, p.level, p.slope = t, o, max(-driftMost, min(slope, driftMost))
}

// scatter is how far off a median is at least, in seconds, however well the
// points lie: they are wrong together for a while.
const scatter = 0.0005
