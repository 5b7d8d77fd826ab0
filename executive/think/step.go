package think

import (
	"time"

	"earshot"
)

// Rules say how thoughts share the time with the conversation. They may change from step to step.
type Rules struct {
	Off        bool          // no thinking at all
	Sequential bool          // a thought is a single step, and nothing is thought unasked
	Continuous bool          // also think what nobody asked for; switching this off ends such thoughts
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
	Released                  // nobody wants the floor any more
	Ended                     // the request of Gen has ended; Err is why, nil at a good end, and Answer is its findings
	Given                     // a Give was carried out
	Steered                   // somebody said more about the thoughts that Fit: Cut
	Stopped                   // the thoughts that Fit must end
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
	Give                  // record Answer, if State.Gives still reports true
	Over                  // the thought has ended, with Found findings
	Wait                  // no model is available, as Err says: the thought waits for one
)

// An Act is something to do after a step.
type Act struct {
	Kind     ActKind
	Gen      int // of the request to begin
	Question Question
	Text     string  // text of the thought so far
	Upto     int64   // the newest event that its last segment knew of
	Goes     bool    // it continues a thought, and does not begin one
	Plain    bool    // offer no tools: an attempt with tools gave no answer
	Segment  Segment // of Keep
	Answer   Answer  // of Give
	Found    int
	Stopped  bool  // of Over: somebody has stopped it
	Err      error // of Wait
}
