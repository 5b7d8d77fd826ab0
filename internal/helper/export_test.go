package helper

import (
	"math"
	"time"
)

// Hasten shortens the patience of both sides, and lowers what is a flood, for tests with real processes. A
// loaded machine must still start one within it.
func Hasten() {
	beat = 50 * time.Millisecond
	patience = 20
	startup = 60
	grace = 300 * time.Millisecond
	mostControl, mostSound = 1<<20, 1<<20 // a thousand small messages, so that a slow machine floods too
}

// What Hasten set.
func HastyBeat() time.Duration     { return beat }
func HastyPatience() time.Duration { return time.Duration(patience+1) * beat }
func HastyStartup() time.Duration  { return time.Duration(startup+1) * beat }
func HastyGrace() time.Duration    { return grace }
func HastyLinger() time.Duration   { return linger }

// OnExit makes a connection as one of Stdio is: leaving calls exit.
func (c *Conn) OnExit(exit func(int)) { c.exit = exit }

// Believe lets helpers say as much as they can, to measure how much that is.
func Believe() { mostControl, mostSound = math.MaxInt, math.MaxInt }

// Left returns what may be sent at once.
func (c *Credit) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}
