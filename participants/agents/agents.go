// Package agents is the directory of the program's agents: it holds which agents exist, at which
// path, and what they are. Changes are recorded as [earshot.Agent] events; the directory is rebuilt
// from the table that [Projection] keeps of them.
//
// An agent lives until it is ended. While nobody needs it, it sleeps: it is only a line in the
// directory, and its memory is in the journal. A message wakes it. An ended agent never answers
// again, and its path is never used again.
//
// Resolving a path never makes an agent, see [Directory.Resolve]. Whatever must be unique, such as
// a path and the number of a child, is decided within the step that records it. Live agents are
// held in memory, and dead ones only in the table.
//
// An agent belongs to a user. This is either the owner or a subuser, which is an additional user
// with its own agents, reached through a gateway; see [Reaches].
//
// A path is only an address, built by [PathOf] and [ChildPath] and parsed by [ParsePath]:
//
//	/<user>/<connector>        where an agent is met: console, desktop, discord
//	/<user>/agent/<name>       one with a permanent name
//	/<user>/cron/<id>          one that works on a schedule
//	/<user>/task/<id>          one that works on one task
//	/<user>/subuser/<id>       the gateway to those of a subuser
//	/system/<tag>              one of the program itself
//	<any of them>/sub/<n>      one that another made
//	<any of them>/memory       one that remembers for another
//	<any of them>/search/<n>   one that looks something up for another
//
// The user of a path is a person, a group, which has its own user ID, or a subuser. Each word of it
// is in small letters and in its only spelling, so two paths are the same if their bytes are. The
// words that have a meaning here cannot be used anywhere else in a path, nor can words that look
// like them.
package agents

import (
	"errors"
	"slices"

	"earshot"
	"earshot/participants"
)

// A Record is one live agent. It is shared and must not be changed.
type Record struct {
	ID   earshot.ParticipantID
	Path earshot.Path
	User earshot.ParticipantID // the user it belongs to; empty for an agent of the program itself
	Kind earshot.PathKind
	Role earshot.Role

	// Configured says that the agent is set in the configuration, and can be changed only there.
	Configured bool

	earshot.Profile
}

// SitsIn reports whether the agent has a seat in a room. Agents with a permanent name, and those that are
// met by a connector, sit everywhere unless their rooms are listed; others sit only in listed rooms.
func (r Record) SitsIn(room earshot.RoomID) bool {
	if len(r.Rooms) == 0 {
		return r.Kind == earshot.PathAgent || r.Kind == earshot.PathConnector && r.Name != ""
	}
	return slices.Contains(r.Rooms, room)
}

// Home returns the path of the agent's files: its own, or that of its workspace. No agent lives at or
// below the latter, since no user is called "agent".
func (r Record) Home() earshot.Path {
	if r.Workspace == "" {
		return r.Path
	}
	return earshot.Path("/" + string(earshot.PathAgent) + "/" + string(r.User) + "/" + r.Workspace)
}

// Connectors are where an agent of its own can be met, by the names of their providers.
var Connectors = []string{"console", "discord"}

func connectorPath(name string) earshot.Path {
	return earshot.Path("/" + string(participants.Owner) + "/" + name)
}

// Met returns which of some agents of a room answers what calls nobody and came by a connector: that
// of the connector, or the first, which is the main one.
func Met(connector string, all []Record) Record {
	for _, r := range all {
		if r.Kind == earshot.PathConnector && r.Path == connectorPath(connector) {
			return r
		}
	}
	return all[0]
}

// Instructions returns the text that tells the model who the agent is: the agent's own prompt, or
// otherwise the newest built-in one.
func (r Record) Instructions() earshot.Text {
	if r.Prompt == "" {
		return HousePrompt(Newest)
	}
	return r.Prompt
}

// participant returns the agent as others in a conversation see it.
func (r Record) participant() participants.Participant {
	return participants.Participant{ID: r.ID, Name: r.Name, Username: r.Username, Type: participants.Internal, Description: r.Description}
}

// event returns the event that says what happened to the agent.
func (r Record) event(act earshot.Act) earshot.Agent {
	a := earshot.Agent{
		Act: act, ID: r.ID, Path: r.Path, User: r.User, PathKind: r.Kind, Role: r.Role, Configured: r.Configured,
	}
	if act != earshot.Ended {
		a.Profile = new(r.Profile)
	}
	return a
}

// recorded returns the agent that an event describes.
func recorded(a earshot.Agent) Record {
	r := Record{ID: a.ID, Path: a.Path, User: a.User, Kind: a.PathKind, Role: a.Role, Configured: a.Configured}
	if a.Profile != nil {
		r.Profile = *a.Profile
	}
	return r
}

// The errors to branch on. An error of this package that wraps one of them explains to people what
// is wrong, and has a method Cure that says what to do.
var (
	ErrUnknown    = errors.New("there is no such agent")
	ErrDead       = errors.New("the agent has ended")
	ErrTaken      = errors.New("there is one already")
	ErrNotYours   = errors.New("you may not do that")
	ErrConfigured = errors.New("it is set in the configuration")
	ErrProfile    = errors.New("the profile is not valid")
	ErrFull       = errors.New("there are too many")
	ErrTarget     = errors.New("it is not clear where to send it")
	ErrApart      = errors.New("the agent belongs to another user")
)
