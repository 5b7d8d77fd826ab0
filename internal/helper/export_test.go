package helper

import "time"

// Hasten shortens the patience of both sides, for tests with real processes. A
// loaded machine must still start one within it.
func Hasten() {
	beat = 50 * time.Millisecond
	patience = 20
	startup = 60
	grace = 300 * time.Millisecond
}

// What Hasten set.
func HastyBeat() time.Duration     { return beat }
func HastyPatience() time.Duration { return time.Duration(patience+1) * beat }
func HastyStartup() time.Duration  { return time.Duration(startup+1) * beat }
func HastyGrace() time.Duration    { return grace }
func HastyLinger() time.Duration   { return linger }

// OnExit makes a connection as one of Stdio is: leaving calls exit.
func (c *Conn) OnExit(exit func(int)) { c.exit = exit }
