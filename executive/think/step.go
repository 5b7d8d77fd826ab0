package think

import (
	"time"

	"earshot"
)

// Rules are how thoughts share the time with the conversation. They may change from step to step.
type Rules struct {
	Off        bool          // no thinking at all
	Sequential bool          // a thought is one step, and nothing is thought unasked
	Continuous bool          // thoughts that nobody asked for too; when this is switched off, the unfinished ones end
	Interval   time.Duration // from the end of one thought to the next that nobody asked for
}

// An EventKind says what happened to a mind.
type EventKind int

// The kinds of events.
const (
	Asked    EventKind = iota // there is a Question to think about
	Restored                  // a Question from an earlier run, with the Segments it left
	Token                     // the request of Gen gave Text
	Held                      // somebody wants the floor: Cut
	Released                  // nobody wants it any more
	Ended                     // the request of Gen has ended; Err is why, nil at a good end, and Answer is its findings
	Given                     // a Give has been carried out
	Steered                   // somebody said more about the thoughts that Fit: Cut
	Stopped                   // the thoughts that Fit are to end
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
	Upto     int64 // of Ended and Restored: the newest event that the last segment knew of
	News     bool  // of Ended: the segment continued with something new
	Err      error
	Answer   Answer
	Cut      earshot.Interruption
	Fit      func(Question) bool
}

// An ActKind says what a step asks for.
type ActKind int

// The kinds of acts.
const (
	Think  ActKind = iota // begin a segment
	Distil                // distil the thought
	Cancel                // end the request under way
	Keep                  // record Segment
	Give                  // record Answer, if State.Gives still says so
	Over                  // the thought has ended, with Found findings
	Wait                  // there is no model to ask, as Err says: the thought waits for one
)

// An Act is something to do after a step.
type Act struct {
	Kind     ActKind
	Gen      int // of the request to begin
	Question Question
	Text     string          // of the thought so far
	Upto     int64           // the newest event that its last segment knew of
	Goes     bool            // it continues a thought; it does not begin one
	Plain    bool            // show no tools: a try with them gave no answer
	Last     earshot.EventID // its last segment
	Segment  Segment         // of Keep
	Answer   Answer          // of Give
	Found    int
	Stopped  bool  // of Over: somebody has stopped it
	Err      error // of Wait
}
