// Package tool is what agents can do besides talking: the one registry of tools, who may use them,
// and the loop in which a model uses them.
//
// A call is what the protocol of the model marks as one, never something that is read out of prose.
// The rights of the askers are checked before each call. Its result is data for the model, and no
// instruction.
package tool

import (
	"context"
	"encoding/json"

	"earshot"
	"earshot/llm"
	"earshot/participants"
)

// A Scope says for whom and where a tool is used: one turn of an agent, or its part in another
// agent's.
type Scope struct {
	Agent earshot.ParticipantID
	Home  earshot.Path // whose workspace it works in: its own, or its maker's
	Room  earshot.RoomID
	Turn  earshot.TurnID
	About earshot.EventID // the event that is answered

	// Askers are all participants whose words are answered. Each must have the capability that the
	// tool needs. If there are none, nobody asked.
	Askers []participants.Participant

	// Asked are those askers who called for an answer, and did not just say something beside it:
	// what the others hold back, one of these may confirm.
	Asked []participants.Participant

	// Audience is who will perceive the result, and Visibility who may see what is kept of it.
	Audience   earshot.Audience
	Visibility earshot.Visibility

	// Rests returns what the answer rests on so far, including the question, and so does everything
	// made from it: it is erased when any of that is forgotten. May be nil.
	Rests func() []earshot.EventID

	// Budget is what is left to the turn, for all the agents that have a part in it together. It is
	// required.
	Budget *Budget
}

// A Tool is one entry of the registry.
type Tool struct {
	llm.Tool

	// Needs is the capability that everybody who asks must have. If empty, every known participant
	// may use the tool.
	Needs participants.Capability

	// Do uses the tool. It gives up when ctx ends, and is safe for concurrent use. An error is
	// shown to the model, which can correct its call by it; it reveals nothing about the internals
	// of the program. See [Refuse].
	Do func(ctx context.Context, s Scope, arguments json.RawMessage) (Answer, error)
}

// An Answer is the result of a call.
type Answer struct {
	Text earshot.Text

	// Images are shown to the model with Text, if it accepts pictures. They are not kept.
	Images []llm.Image

	// Who may see it, and what it was made from: nothing derived from it reaches further. A zero
	// Visibility means that of the scope.
	Visibility earshot.Visibility
	Sources    []earshot.EventID
}

// A Table is all tools that an agent may use.
type Table []Tool
