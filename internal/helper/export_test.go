package helper

import (
	"math"
	"time"
)

// Hasten shortens how long both sides wait, and lowers the limit of a flood, for tests with real
// processes. Even a loaded machine must be able to start a process within these times.
func Hasten() {
	beat = 50 * time.Millisecond
	patience = 20
	startup = 60
	grace = 300 * time.Millisecond
	mostControl, mostSound = 1<<20, 1<<20 // 1000 small messages: even a slow machine sends more
}

// What Hasten set.
func HastyBeat() time.Duration     { return beat }
func HastyPatience() time.Duration { return time.Duration(patience+1) * beat }
func HastyStartup() time.Duration  { return time.Duration(startup+1) * beat }
func HastyGrace() time.Duration    { return grace }
func HastyLinger() time.Duration   { return linger }

// OnExit makes a connection as one of Stdio is: leaving calls exit.
func (c *Conn) OnExit(exit func(int)) { c.exit = exit }

// Believe raises the limits on what helpers may say, so that a benchmark can measure how much they
// can.
func Believe() { mostControl, mostSound = math.MaxInt, math.MaxInt }

// Left returns what may be sent at once.
func (c *Credit) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}
