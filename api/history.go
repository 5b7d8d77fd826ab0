package api

import (
	"fmt"
	"time"

	"earshot"
)

// A HistoryPage is a page of what has happened, with what those are called who are spoken of.
type HistoryPage struct {
	Events []earshot.Event                  `json:"events"`
	Before int64                            `json:"before"` // where to go on from; 0 when there is no more
	Names  map[earshot.ParticipantID]string `json:"names"`

	// Passages are what is to be shown of each event that was searched for, in the same order.
	Passages []earshot.SearchPassage `json:"passages,omitempty"`
}

// A DecisionPage is a page of what was decided.
type DecisionPage struct {
	Decisions []ExplainedDecision `json:"decisions"`
	Before    int64               `json:"before"` // where to go on from; 0 when there is no more
}

// An ExplainedDecision is what an agent decided, and why.
type ExplainedDecision struct {
	Sequence int64            `json:"sequence"`
	At       time.Time        `json:"at"`
	Agent    string           `json:"agent"`
	Verdict  earshot.Verdict  `json:"verdict"`
	Reasons  []string         `json:"reasons"`
	By       string           `json:"by,omitempty"`     // who has confirmed what was done, if somebody had to
	About    *DecisionSubject `json:"about,omitempty"`  // nil for nothing, or nothing that is there to be seen
	Failed   bool             `json:"failed,omitempty"` // nothing of what was to be said came out
	Fault    string           `json:"fault,omitempty"`  // what went wrong then
	Facts    []int64          `json:"facts,omitempty"`  // the sequences of the facts that it rests on, as far as they are to be seen

	// Gone says that what it was about is not there any more, or not to be seen. It is not
	// sent: in JSON this is a decision about nothing.
	Gone bool `json:"-"`
}

// A DecisionSubject is what a decision was about.
type DecisionSubject struct {
	ID      earshot.EventID `json:"id"`
	Kind    earshot.Kind    `json:"kind"`
	By      string          `json:"by"`
	Private bool            `json:"private,omitempty"`
	Text    earshot.Text    `json:"text,omitempty"` // its first words
}

// String tells what it was, in words.
func (m *DecisionSubject) String() string {
	how := map[earshot.Kind]string{
		earshot.KindMessage: "wrote", earshot.KindUtterance: "said", earshot.KindReply: "answered",
		earshot.KindFinding: "found", earshot.KindReminder: "set the reminder", earshot.KindThought: "thought about",
		earshot.KindSight: "saw",
	}[m.Kind]
	switch {
	case how == "":
		return "About what " + m.By + " did (" + string(m.Kind) + "):"
	case m.Private:
		how += " in private"
	}
	return fmt.Sprintf("%s %s “%s”", m.By, how, string(m.Text))
}
