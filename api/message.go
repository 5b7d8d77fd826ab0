package api

import "earshot"

// A MessageRequest is the body of POST /v1/messages.
type MessageRequest struct {
	ID   earshot.EventID `json:"id,omitempty"` // a ULID, so that a message sent twice is kept once
	Text earshot.Text    `json:"text"`         // as it is typed; see [earshot.Typed]
}

// A MessageReceipt is the answer to a [MessageRequest], given when the message is kept.
type MessageReceipt struct {
	ID   earshot.EventID `json:"id"`
	Hint string          `json:"hint,omitempty"` // whom it does not reach, such as that nobody is called so
}

// A CommandRequest is the body of POST /v1/commands.
type CommandRequest struct {
	Name string       `json:"name"` // without the slash
	Args earshot.Text `json:"args,omitempty"`
}

// A CommandAnswer is the answer to a [CommandRequest].
type CommandAnswer struct {
	Answer string `json:"answer"`
}

// A Refusal is why something was refused, for a person: the body of every answer that is
// an error.
type Refusal struct {
	Problem string `json:"error"`
	Mend    string `json:"cure,omitempty"` // the command or the step that mends it
}

// Error returns the problem, and the cure if there is one.
func (r *Refusal) Error() string {
	if r.Mend == "" {
		return r.Problem
	}
	return r.Problem + "; " + r.Mend
}

// Cure returns what mends it.
func (r *Refusal) Cure() string { return r.Mend }
