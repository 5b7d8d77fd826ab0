// Package agents is the directory of the agents of the house: which there are, at
// which path, and what they are. What changes is recorded as [earshot.Agent]
// events; the directory is made again from the table that [Projection] keeps of them.
//
// An agent lives until it is ended. While nobody needs it, it sleeps: it is a
// line in the directory, and what it remembers stands in the journal. A message wakes
// it. One that was ended never answers again, and its path is never used again.
//
// To resolve a path and to make an agent are different things: [Directory.Resolve]
// never makes one. What is unique, a path and the number of a child, is decided
// within the step that records it. The live agents are in memory, the dead ones
// only in the table.
//
// An agent belongs to a user: the owner of the house, or a subuser, which is a
// user besides with agents of its own, reached by a gateway; see [Reaches].
package agents

import (
	"slices"

	"earshot"
	"earshot/participants"
	"earshot/participants/paths"
)

// A Record is one agent that lives. It is shared: nobody changes it.
type Record struct {
	ID   earshot.ParticipantID
	Path earshot.Path
	User earshot.ParticipantID // whose it is; empty for one of the house itself
	Kind paths.Kind
	Role paths.Role

	// Configured says that it is set in the configuration: it is changed
	// there, and nowhere else.
	Configured bool

	earshot.Profile
}

// SitsIn reports whether the agent has a seat in a room. Agents with a name that
// stay sit everywhere, unless they are told where; others only where they are
// told.
func (r Record) SitsIn(room earshot.RoomID) bool {
	if len(r.Rooms) == 0 {
		return r.Kind == paths.Agent
	}
	return slices.Contains(r.Rooms, room)
}

// Instructions returns what tells the model who the agent is: its own prompt, or
// else the house's newest.
func (r Record) Instructions() earshot.Text {
	if r.Prompt == "" {
		return HousePrompt(Newest)
	}
	return r.Prompt
}

// participant returns the agent as those see it who talk with it.
func (r Record) participant() participants.Participant {
	return participants.Participant{ID: r.ID, Name: r.Name, Type: participants.Internal, Description: r.Description}
}

// event returns that something happened to the agent.
func (r Record) event(act earshot.Act) earshot.Agent {
	a := earshot.Agent{
		Act: act, ID: r.ID, Path: r.Path, User: r.User, PathKind: string(r.Kind), Role: string(r.Role), Configured: r.Configured,
	}
	if act != earshot.Ended {
		p := r.Profile
		a.Profile = &p
	}
	return a
}

// recorded returns the agent as an event says it is.
func recorded(a earshot.Agent) Record {
	r := Record{ID: a.ID, Path: a.Path, User: a.User, Kind: paths.Kind(a.PathKind), Role: paths.Role(a.Role), Configured: a.Configured}
	if a.Profile != nil {
		r.Profile = *a.Profile
	}
	return r
}
