package api

import (
	"time"

	"earshot"
)

// A VoiceRequest is what somebody says about voices.
type VoiceRequest struct {
	Act    string   `json:"act"`              // enroll, name, merge, split, forget or undo
	Voices []string `json:"voices,omitempty"` // handles, what they are called, or whose they are
	Who    string   `json:"who,omitempty"`    // what the person is called whose they are

	// Consents says that the person agrees that a print of their voice is kept.
	Consents bool `json:"consents,omitempty"`
}

// A VoiceInfo is a voice that is known, without its print.
type VoiceInfo struct {
	Handle earshot.Handle   `json:"handle"`
	Also   []earshot.Handle `json:"also,omitempty"` // that turned out to be this one

	// Number is what people call a voice by that was not known when the program
	// began: voice 3. It is of this run alone; 0 is none.
	Number int `json:"number,omitempty"`

	Who   earshot.ParticipantID `json:"who,omitempty"` // whose it is; empty if nobody has said
	Kept  bool                  `json:"kept"`          // in the file, with consent
	Said  Attestation           `json:"said,omitzero"` // who named it, or agreed to keep it
	Heard time.Duration         `json:"heard"`         // that its print is made of

	// Spoken is how long it was learnt from in this run, and Last when that was.
	Spoken time.Duration `json:"spoken,omitempty"`
	Last   time.Time     `json:"last,omitzero"`

	Called string `json:"called"`            // such as voice 3
	Name   string `json:"name,omitempty"`    // of the person, if somebody has said who it is
	SaidBy string `json:"said_by,omitempty"` // what they are called who said so
}

// An Attestation is who says so, and when.
type Attestation struct {
	By earshot.ParticipantID `json:"by"`
	At time.Time             `json:"at"`
}

// A VoiceChange says what changed about voices.
type VoiceChange struct {
	Act   string                `json:"act"` // named, enrolled, merged, split, taught or forgotten
	Voice earshot.Handle        `json:"voice"`
	Other earshot.Handle        `json:"other,omitzero"`
	Who   earshot.ParticipantID `json:"who,omitempty"`   // whose Voice is now, or of a division Other
	Was   earshot.ParticipantID `json:"was,omitempty"`   // whose Voice was
	Said  Attestation           `json:"said"`            // by whom; nobody if the voices told themselves
	Moved []time.Time           `json:"moved,omitempty"` // when that began to be said which is Other's now; of what was taught, Voice's
	Undo  bool                  `json:"undo,omitempty"`  // it takes back another change
	Text  string                `json:"text"`            // in words
}
