package audio

import "time"

const (
	// strayed is how far a clock may be from what it is told before it wonders
	// whether frames were lost, or something slept.
	strayed = 100 * time.Millisecond

	// lasting is for how long it must be told so to follow. Frames that waited
	// because the machine was busy, which nobody tells apart, are read at once by
	// then, and the clock was right.
	lasting = 500 * time.Millisecond

	// pull is the part of a smaller difference that it makes good with each
	// frame: jitter is gone, and no crystal drifts as fast.
	pull = 16
)

// A Clock gives the frames of a device even times. What is measured when a
// frame is read says as much about the machine's load as about the frame. The
// zero value is ready; it is for one goroutine.
type Clock struct {
	last  time.Time
	since time.Time // when it was told first to have strayed; zero if it has not
}

// Next returns when the next frame was captured, given when it seems to have
// been, which is later than it was where the machine is busy. Times never go
// back, unless the wall clock does.
func (c *Clock) Next(measured time.Time) time.Time {
	due := c.last.Add(Time)
	off := measured.Sub(due)
	switch {
	case c.last.IsZero() || c.strays(off, measured) || (walled(due, measured)-off).Abs() > strayed:
		due = measured
	case off > strayed: // perhaps
	case off < -strayed:
		due = c.last // until the time has come there
	default:
		due = due.Add(off / pull)
	}
	c.last = due
	return due
}

// strays reports whether the clock has been late for so long that it is wrong.
func (c *Clock) strays(off time.Duration, measured time.Time) bool {
	switch {
	case off <= strayed:
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = measured
	}
	return off > strayed && measured.Sub(c.since) >= lasting
}

// walled returns how much later the wall clock has b than a. It was set between
// them, or the machine slept, if that is not what has passed: frames go by their
// wall time to the daemon, which must not be that of a clock long gone.
func walled(a, b time.Time) time.Duration { return b.Round(0).Sub(a.Round(0)) }
