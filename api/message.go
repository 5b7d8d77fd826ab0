package api

import "earshot"

// A MessageRequest is the body of POST /v1/messages.
type MessageRequest struct {
	ID   earshot.EventID `json:"id,omitempty"` // a ULID, so that a message sent twice is kept once
	Text earshot.Text    `json:"text"`         // as it is typed; see [earshot.Typed]
	To   string          `json:"to,omitempty"` // an address: a path, an ID, or a pattern such as /owner/agent/*; empty if names decide
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
