// Package think is how an agent thinks beside the conversation: thoughts that go
// on by themselves, give way to whoever wants to talk, keep what they had, and
// go on from there with the interruption as something new to think about.
//
// A thought consists of segments. [State] is the whole logic of when one
// begins, gives way, goes on and is over: a step function without goroutine or
// clock. [Mind] is the dull part around it: one goroutine asks the model, one
// request at a time, and whoever wants the floor parks it by a call that never
// waits. What a mind thinks about, and what becomes of it, is its [Host]'s.
//
// At its end, or when it has been parked for a while, a thought is distilled
// into findings: what could be said, with what speaks for it, how sure it is,
// and until when. They come of an answer by a schema, and are refused whole where
// they point to what there is not; see [ParseFindings]. When there are more than
// can be kept in mind, the model is asked to put them together.
//
// At most [MostAsked] questions of a conversation wait, and [MostPrivate] of private ones
// together; one more is refused. Of what is only new the latest waits. Nothing that a model has given is dropped, up to [MostText] a
// thought, where it ends.
package think

import (
	"time"

	"earshot"
	"earshot/llm"
)

const (
	// MostAsked is how many questions of one conversation may wait for thought: each
	// takes a model at home the better part of a minute.
	MostAsked = 8

	// MostPrivate is how many may wait that were asked in private, by whomever. What
	// all may know is never refused because of them.
	MostPrivate = 32

	// MostText is the longest thought in bytes, over all its segments: some 4,000 tokens. A prompt
	// can show its beginning and its end.
	MostText = 16 << 10

	// MostSegments is of how many segments a thought is that has heard something
	// new before each but the first: after that many it is about what is over. Those
	// before which nothing was said, as at a line that was emptied again or a command,
	// are not counted; there can be as many as its text has room for.
	MostSegments = 8
)

// A Question is what a thought is about, and for whom.
type Question struct {
	ID    earshot.EventID // of the thought, and of its first segment
	Cause earshot.Cause
	About earshot.EventID // the message that asked for it, or that it began with; may be empty
	Text  earshot.Text    // what is to be found out, or what is new

	// Sources are what the text was made of, beside the message, if it is nobody's own words.
	Sources []earshot.EventID

	By         earshot.ParticipantID // who asked; empty if nobody did
	Via        string                // the outlet where they did
	Name       string                // of who asked
	Visibility earshot.Visibility    // of the conversation in which it was asked
	At         time.Time
}

// A Segment is one finished part of a thought, as it is recorded.
type Segment struct {
	ID earshot.EventID
	earshot.Thought
	At time.Time // when it began
}

// A SegmentInput is what a segment is made of.
type SegmentInput struct {
	// Messages are who the agent is and the dialogue, as a reply in the same
	// circle begins; Tools are what it would be offered. A server that has read
	// them for the one need not read them again for the other.
	Messages []llm.Message
	Tools    []llm.Tool

	Engine, Model string                // see [llm.Request]
	Agent         earshot.ParticipantID // whose mind it is

	// Apart says that nothing is parked for a reply, since the engine has a slot to
	// spare. A server then gives a request the slot that has read most of how it
	// begins: a thought that began as a reply does would take that of the replies,
	// and the next would have to be read from its beginning, which was measured to
	// make it twice as slow. So it begins otherwise, and has a slot of its own.
	Apart bool

	Situation string // what is going on, a line an entry
	Update    Update // since the last segment of the same thought
	Upto      int64  // the newest event that all this knows of

	Evidence []Evidence        // what a finding can rest on, the oldest first
	Buffered []BufferedFinding // what was found earlier
	Refuted  []string          // what was found, and somebody has said is wrong
}

// An Update is what has happened since a thought was parked.
type Update struct {
	By       string // who interrupted, and with which words; empty if nobody did
	Answered string // what was answered to it
	Changed  string // what else is different now
}

// Evidence is something that a finding can rest on.
type Evidence struct {
	Event earshot.EventID
	Text  string // in a line
}

// A Finding is what a thought has come to.
type Finding struct {
	earshot.Finding                   // without Thought
	Evidence        []earshot.EventID // what speaks for it
}

// A BufferedFinding is a finding that is in the buffer.
type BufferedFinding struct {
	ID         earshot.EventID
	Text       earshot.Text
	Confidence float64
	Until      time.Time
	Used       bool // a reply has rested on it
	Same       bool // exactly those may see it who may see the thought
}

// An Answer is the result of distilling a thought.
type Answer struct {
	Segment  earshot.EventID // the last one of it
	Findings []Finding
	Refused  int // how many were not taken, since something was wrong with them
}
