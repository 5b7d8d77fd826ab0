package think

import (
	"time"

	"earshot"
)

// Rules are how thoughts share the time with the conversation. They may change
// from step to step.
type Rules struct {
	Off        bool          // nothing is thought at all
	Sequential bool          // a thought is one step, and nobody thinks unasked
	Continuous bool          // it is also thought about what nobody asked for; what is not thought out when this ends, ends
	Interval   time.Duration // from the end of one thought to one that nobody asked for
}

// An EventKind is what happened to a mind.
type EventKind int

// The kinds of events.
const (
	Asked    EventKind = iota // there is a Question to think about
	Restored                  // there was one before the program ended, of which this is left: Stretches
	Token                     // the request of Gen gave Text
	Held                      // somebody wants the floor: Cut
	Released                  // nobody does
	Ended                     // the request of Gen is over; Err is why, nil at a good end, and Answer what it found
	Given                     // what Give asked for is done
	Steered                   // more is said about the thoughts that Fit fits: Cut
	Stopped                   // they are to end
	Ticked                    // time has passed
	Closed                    // the program ends
)

// An Event is one step of a mind.
type Event struct {
	Kind     EventKind
	Now      time.Time
	Question Question
	Segments []Segment
	Gen      int
	Text     string
	Upto     int64 // of Ended and Restored: what the last segment knew of
	News     bool  // of Ended: the segment went on with something new
	Err      error
	Answer   Answer
	Cut      earshot.Interruption
	Fit      func(Question) bool
}

// An ActKind is what a step asks for.
type ActKind int

// The kinds of acts.
const (
	Think  ActKind = iota // begin a segment
	Distil                // distil the thought
	Cancel                // end the request that is under way
	Keep                  // write Stretch down
	Give                  // write Answer down, if State.Gives still says so
	Over                  // the thought has ended, with Found findings
	Wait                  // there is no model to ask, which Err says: the thought waits for one
)

// An Act is something to be done after a step.
type Act struct {
	Kind     ActKind
	Gen      int // of the request that is to begin
	Question Question
	Text     string          // of the thought so far
	Upto     int64           // what its last segment knew of
	Goes     bool            // it goes on; it does not begin
	Plain    bool            // show no tools: with them the answer was none
	Last     earshot.EventID // its last segment
	Segment  Segment         // of Keep
	Answer   Answer          // of Give
	Found    int
	Stopped  bool  // of Over: somebody has stopped it
	Err      error // of Wait
}
