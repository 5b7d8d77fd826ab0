package api

import (
	"time"

	"earshot"
)

// An EraseRequest is what somebody wants forgotten. All that it says must hold. Who does not
// operate the house can have forgotten alone what is theirs.
type EraseRequest struct {
	Who        string            `json:"who,omitempty"`        // "me", a name, an ID, or a handle such as discord:80351110224678912
	Events     []earshot.EventID `json:"events,omitempty"`     // these
	Room       earshot.RoomID    `json:"room,omitempty"`       // in which it happened; empty: whichever
	From       time.Time         `json:"from,omitzero"`        // when it began, from then on
	To         time.Time         `json:"to,omitzero"`          // and before then
	Everything bool              `json:"everything,omitempty"` // nothing else needs to be said

	// Digest is that of what was shown. Without it nothing is forgotten.
	Digest string `json:"digest,omitempty"`
}

// A ReplyInfo is a reply to somebody else.
type ReplyInfo struct {
	At   time.Time `json:"at"`
	Room string    `json:"room"`
	By   string    `json:"by"`
	To   string    `json:"to"`
}

// An ErasePreview is what would be forgotten, without a word of it.
type ErasePreview struct {
	Digest string               `json:"digest"`          // of exactly this
	Of     string               `json:"of"`              // what was asked for, in words
	Events int                  `json:"events"`          // that lose their content
	Kinds  map[earshot.Kind]int `json:"kinds,omitempty"` // how many of each
	From   time.Time            `json:"from,omitzero"`   // when the first of them began
	To     time.Time            `json:"to,omitzero"`     // and the last
	Rooms  map[string]int       `json:"rooms,omitempty"` // how many in each, by its name

	// Others are replies to somebody else that go too, since what goes stood in their
	// prompts: those of them that whoever asks may see, of so many.
	Others  int         `json:"others,omitempty"`
	Replies []ReplyInfo `json:"replies,omitempty"`

	Voices int      `json:"voices,omitempty"` // whose prints go
	Files  int      `json:"files,omitempty"`  // of agents, from which something goes
	Aside  []string `json:"aside,omitempty"`  // files that were set aside, which go as a whole
	Person string   `json:"person,omitempty"` // what becomes of who is forgotten
	Stays  []string `json:"stays"`            // what cannot be reached

	// Done says that it was done, and Since how much of it came after it was shown.
	Done  bool `json:"done,omitempty"`
	Since int  `json:"since,omitempty"`
}
