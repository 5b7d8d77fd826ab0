// Package tool is what agents may do besides talking: the one registry of tools,
// who may have them used, and the loop in which a model uses them.
//
// A call is what the protocol of the model says is one, never something that is
// read out of prose. Whether those who asked may have it done is looked at before
// each call. What comes of it is data for the model, and no instruction.
package tool

import (
	"context"
	"encoding/json"

	"earshot"
	"earshot/llm"
	"earshot/participants"
)

// A Scope is for whom and where a tool is used: one turn of an agent, or its part
// in another agent's.
type Scope struct {
	Agent earshot.ParticipantID
	Name  string // of the agent
	Path  earshot.Path
	Home  earshot.Path // whose workspace it works in: its own, or that of who made it
	Room  earshot.RoomID
	Turn  earshot.TurnID
	About earshot.EventID // what is answered

	// Askers are all participants whose words are answered. Each must have the capability that the
	// tool needs. If there are none, nobody asked.
	Askers []participants.Participant

	// Asked are those of them who called for an answer, and did not just say something
	// beside it: what the others hold back, one of these may confirm.
	Asked []participants.Participant

	// Audience is who will perceive the result, and Visibility who may see what is kept of it.
	Audience   earshot.Audience
	Visibility earshot.Visibility

	// Rests returns what the answer rests on so far, the question too, and so what is made
	// of it: what is kept of that goes when any of it is forgotten. May be nil.
	Rests func() []earshot.EventID

	Depth int // how many agents have asked one another; 0 for a turn

	// Budget is what is left of the turn, for all the agents that have a part in
	// it together. It is required.
	Budget *Budget
}

// A Tool is one row of the registry.
type Tool struct {
	llm.Tool

	// Needs is the capability that everybody who asks must have. If empty, every known participant
	// may have the tool used.
	Needs participants.Capability

	// Do uses the tool. It gives up when ctx ends, and may be called from many
	// goroutines. An error is told to the model, which can mend its call by it;
	// it says nothing of how the house is made. See [Refuse].
	Do func(ctx context.Context, s Scope, arguments json.RawMessage) (Answer, error)
}

// An Answer is the result of a call.
type Answer struct {
	Text earshot.Text

	// Images are shown to the model with Text, if it can look at pictures. They are
	// kept nowhere.
	Images []llm.Image

	// Who may see it, and what it was made of: what is derived from it reaches
	// no further. A zero Visibility means those of the scope.
	Visibility earshot.Visibility
	Sources    []earshot.EventID
}

// A Table is all tools that an agent may use.
type Table []Tool
