// Package agents is the book of the agents of the house: which there are, at
// which path, and what they are. What changes is recorded as [earshot.Agent]
// events; the book is made again from them.
//
// An agent lives until it is ended. While nobody needs it, it sleeps: it is a
// line in the book, and what it remembers stands in the journal. A message wakes
// it. One that was ended never answers again, and its path is never used again.
package agents

import (
	"slices"

	"earshot"
	"earshot/participants/paths"
)

// A Record is one agent that lives. It is shared: nobody changes it.
type Record struct {
	ID   earshot.ParticipantID
	Path earshot.Path
	Kind paths.Kind
	Role paths.Role
	earshot.Profile
}

// SitsIn reports whether the agent has a seat in a room.
func (r Record) SitsIn(room earshot.RoomID) bool {
	return len(r.Rooms) == 0 || slices.Contains(r.Rooms, room)
}
