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
	Thinking Phase = "thinking" // it grows
	Parked   Phase = "parked"   // it goes on
	Sorting  Phase = "sorting"  // it is over, and it is looked what came of it
)

// A View is a thought as it stands.
type View struct {
	Question
	Phase  Phase
	Text   earshot.Text
	Spans  []Span    // of Text, those that are over; the rest is the segment that grows
	Began  time.Time // the last segment
	Tokens int
	Tries  int  // how often it has failed in a row
	Misses bool // there was no model to ask
}

// View returns the thoughts in the order in which they come.
func (s *State) View() (all []View) {
	for _, t := range s.thoughts {
		v := View{
			Question: t.Question, Phase: Waiting, Text: earshot.Text(t.text), Spans: slices.Clone(t.spans),
			Began: t.began, Tokens: t.tokens, Tries: t.tries, Misses: t.missed > 0,
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
