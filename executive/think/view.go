package think

import (
	"slices"
	"time"

	"earshot"
)

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
