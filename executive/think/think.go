// Package think lets an agent think beside the conversation. A thought continues by itself, gives
// way to whoever wants to talk, keeps what it had, and continues from there with the interruption
// as something new to think about.
//
// A thought consists of segments. [State] is the whole logic of when one begins, gives way,
// continues and ends: a step function without goroutine or clock. [Mind] is the plain part around
// it: one goroutine asks the model, one request at a time, and whoever wants the floor parks it by
// a call that never waits. What a mind thinks about, and what becomes of it, is up to its [Host].
//
// At its end, or when it has been parked for a while, a thought is distilled into findings. A
// finding says what could be said, what supports it, how sure it is, and until when. The model
// answers according to a schema, and a finding that refers to something that does not exist is
// refused as a whole; see [ParseFindings]. If there are more findings than can be kept in mind, the
// model is asked to merge them.
//
// At most [MostAsked] questions of each conversation wait, and at most [MostPrivate] private ones
// together; one more is refused. Of subjects that are merely new, only the latest waits. Nothing
// that a model has yielded is dropped, up to [MostText] for a thought, where the thought ends.
package think

import (
	"slices"
	"time"

	"earshot"
	"earshot/llm"
)

const (
	// MostAsked is how many questions of one conversation may wait for thought: each takes a model
	// at home the better part of a minute.
	MostAsked = 8

	// MostPrivate is how many questions asked in private may wait, whoever asked them. They never
	// cause a public question to be refused.
	MostPrivate = 32

	// MostText is the longest thought in bytes, over all its segments: some 4,000 tokens. A prompt
	// can show its beginning and its end.
	MostText = 16 << 10

	// MostSegments is how many segments of a thought may begin with something new, not counting the
	// first; after that many, its subject is out of date. Segments before which nothing was said,
	// as after a discarded line or a command, do not count; there can be as many as the text has
	// room for.
	MostSegments = 8
)

// A Question is what a thought is about, and for whom.
type Question struct {
	ID    earshot.EventID // of the thought, and of its first segment
	Cause earshot.Cause
	About earshot.EventID // the message that asked for it or gave rise to it; may be empty
	Text  earshot.Text    // what to find out, or what is new

	// Sources are what the text was made from, besides the message, if it is not somebody's own
	// words.
	Sources []earshot.EventID

	By         earshot.ParticipantID // who asked; empty if nobody did
	Via        string                // the outlet at which the question was asked
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

// A SegmentInput is the input for a segment.
type SegmentInput struct {
	// Messages say who the agent is, and contain the dialogue, beginning as a reply to the same
	// people would; Tools are those that the reply would be offered. A server that has read them
	// for the one need not read them again for the other.
	Messages []llm.Message
	Tools    []llm.Tool

	Engine, Model string                // see [llm.Request]
	Agent         earshot.ParticipantID // whose mind it is

	// Apart says that the thought is not parked for replies, because the engine has a slot to
	// spare. A server gives a request the slot that has already read most of its beginning. A
	// thought that began like a reply would take the slot of the replies, and the next reply would
	// have to be read from its beginning, which measured twice as slow. So such a thought begins
	// differently, and has a slot of its own.
	Apart bool

	Situation string // what is going on, one line for each entry
	Update    Update // since the last segment of the same thought
	Upto      int64  // the newest event that this input knows of

	Evidence []Evidence        // what a finding can rest on, the oldest first
	Buffered []BufferedFinding // what was found earlier
	Refuted  []string          // earlier findings that somebody has said are wrong
}

// An Update is what has happened since a segment of a thought ended.
type Update struct {
	By       string // who interrupted, and with which words; empty if nobody did
	Answered string // the answer to that
	Changed  string // what else is different now
}

// Evidence is something that a finding can rest on.
type Evidence struct {
	Event earshot.EventID
	Text  string // in one line
}

// A Finding is one result of a thought.
type Finding struct {
	earshot.Finding                   // without Thought
	Evidence        []earshot.EventID // the events that support it
}

// A BufferedFinding is a finding in the buffer.
type BufferedFinding struct {
	ID         earshot.EventID
	Text       earshot.Text
	Confidence float64
	Until      time.Time
	Same       bool // visible to exactly the people who may see the thought
}

// An Answer is the result of distilling a thought.
type Answer struct {
	Segment  earshot.EventID // the last one of the thought
	Findings []Finding
	Refused  int // how many findings were refused as invalid
}

// A Span is the place of a segment in the text of its thought.
type Span struct {
	From, To int
	At       time.Time
	Cut      *earshot.Interruption
}

// A Phase is how far a thought has come.
type Phase string

// The phases.
const (
	Waiting  Phase = "waiting"  // it has not begun
	Thinking Phase = "thinking" // a request is under way
	Parked   Phase = "parked"   // it will continue
	Sorting  Phase = "sorting"  // it has ended and is being distilled
)

// A View is the current state of a thought.
type View struct {
	Question
	Phase  Phase
	Text   earshot.Text
	Spans  []Span    // the positions of the finished segments in Text; the rest is the segment in progress
	Began  time.Time // when the last segment began
	Tokens int
	Misses bool // no model was available
}

// View returns the thoughts in the order in which they will be thought.
func (s *State) View() (all []View) {
	for _, t := range s.thoughts {
		v := View{
			Question: t.Question, Phase: Waiting, Text: earshot.Text(t.text), Spans: slices.Clone(t.spans),
			Began: t.began, Tokens: t.tokens, Misses: t.missed > 0,
		}
		switch {
		case t == s.current && !s.sorts && !s.stopping:
			v.Phase = Thinking
		case t.finished || t == s.current && s.sorts:
			v.Phase = Sorting
		case !t.parked.IsZero() || t == s.current:
			v.Phase = Parked
		}
		all = append(all, v)
	}
	return all
}
