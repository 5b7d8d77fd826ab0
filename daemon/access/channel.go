package access

import (
	"slices"
	"strings"

	"earshot"
	"earshot/executive"
	"earshot/participants"
)

// Rooms that are opened while the daemon runs are named after their place: the room of a Discord
// channel is discord-ID, and that of direct messages discord-dm-ID, with the ID of the other
// person.
const (
	Discord       = "discord"
	ChannelPrefix = Discord + "-"
	DirectPrefix  = ChannelPrefix + "dm-"
)

// IsChannel reports whether a room is that of a Discord channel or of direct messages.
func IsChannel(id earshot.RoomID) bool { return strings.HasPrefix(string(id), ChannelPrefix) }

// Channel returns the room of a channel or of direct messages with an ID, whether or not it is
// open.
func (g Gate) Channel(id earshot.RoomID) (executive.Room, bool) {
	is := executive.Room{ID: id, Name: string(id), Provider: Discord}
	who, direct := strings.CutPrefix(string(id), DirectPrefix)
	if !direct {
		who, _ = strings.CutPrefix(string(id), ChannelPrefix)
	}
	h := earshot.Handle{Provider: Discord, ID: who}
	as := participants.ArrivedAs(h) // which has only valid IDs
	if as == "" || string(id) != DirectPrefix+who && string(id) != ChannelPrefix+who {
		return executive.Room{ID: id}, false
	}
	if direct {
		is.Actors = []earshot.ParticipantID{as}
		if p := g.people.Resolve(h); p.ID != "" && p.Reader() != as {
			is.Actors = append(is.Actors, p.Reader())
		}
	}
	return is, true
}

// MayBeIn reports why somebody cannot be in a room: a channel is for those who come from Discord,
// and for those who may enter it from elsewhere.
func (g Gate) MayBeIn(p participants.Participant, is executive.Room) error {
	if is.Provider == "" {
		return g.MayEnter(p, is.ID)
	}
	comes := slices.ContainsFunc(g.people.Handles(p.ID), func(h earshot.Handle) bool { return h.Provider == is.Provider })
	if comes && (len(is.Actors) == 0 || slices.Contains(is.Actors, p.Reader())) || g.admits(p, is) {
		return nil
	}
	return NoRoom(is.ID, nil)
}
