package earshot

import "time"

// A Fact is something that an agent remembers, in a sentence. What it rests on are its sources: the
// words themselves, and the [Summary] of the stretch of talk in which they were said. A fact that
// replaces another leaves that on record, as what was thought before.
type Fact struct {
	Text       Text            `json:"text"`
	About      []ParticipantID `json:"about,omitempty"`
	Subject    Text            `json:"subject,omitempty"` // what it concerns, in a word or a few
	Confidence float64         `json:"confidence"`        // 0 to 1
	Since      time.Time       `json:"since"`             // when it was said
	Until      time.Time       `json:"until,omitzero"`    // when it ceases to hold, if it does
	Due        time.Time       `json:"due,omitzero"`      // when somebody wants to be told of it, if ever
	Replaces   EventID         `json:"replaces,omitempty"`
}

// A Summary is what remains of talk that has left the dialogue of an agent. The sources of one of a
// single stretch are all that was read for it and for the facts beside it, and count as read as long as
// it exists. A summary of the whole conversation rests on those of its stretches and on the whole before
// it, which it replaces.
type Summary struct {
	Text  Text  `json:"text,omitempty"` // empty if there was nothing worth it
	From  int64 `json:"from"`           // the sequence of the first event that was read
	Upto  int64 `json:"upto"`           // and of the last
	Whole bool  `json:"whole,omitempty"`
}
