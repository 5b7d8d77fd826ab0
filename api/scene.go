package api

import (
	"time"

	"earshot"
)

// A SceneEntry is an entry of what is going on: of the answer to GET /v1/context.
type SceneEntry struct {
	Field      string          `json:"field"`
	ID         string          `json:"id"`           // names it among those of its field
	Of         string          `json:"of,omitempty"` // whose state it is
	By         string          `json:"by,omitempty"` // whose words these are, if they are anybody's
	Text       earshot.Text    `json:"text"`
	Was        earshot.Text    `json:"was,omitempty"`          // what it said before it was last changed
	Mender     string          `json:"corrected_by,omitempty"` // who has put right what somebody said
	Source     string          `json:"source"`                 // the sense, or the part of the house, that says so
	Event      earshot.EventID `json:"event,omitempty"`
	At         time.Time       `json:"at"`   // when it was true
	When       string          `json:"when"` // the same, as one would say it
	Age        float64         `json:"age_seconds"`
	Confidence float64         `json:"confidence,omitempty"` // of a finding, 0 to 1
	Until      *time.Time      `json:"until,omitempty"`      // when a finding is stale
	Used       bool            `json:"used,omitempty"`       // a reply has rested on it
}
