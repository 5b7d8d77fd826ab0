// Package access knows who exists, who somebody is and who may enter which room. The daemon and
// the commands that read beside it use it alike.
package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/participants"
	"earshot/server"
	"earshot/server/token"
)

// A Gate decides who is who, and who may enter which room. It serves those who come in and those
// who read what was said.
type Gate struct {
	people *participants.Registry
	Tokens *token.Store
	Rooms  func() []executive.Room // all rooms
	Find   func(earshot.RoomID) (executive.Room, bool)
}

// NewGate returns the gate for cfg.
func NewGate(cfg *config.Config, people *participants.Registry) Gate {
	return Gate{people: people, Tokens: token.In(cfg.Store.Directory), Rooms: cfg.Rooms.All, Find: cfg.Rooms.Find}
}

// Identify returns who somebody is whom the kernel or a provider knows by account, and who reads
// what they are shown in the room they claim. A room that they may not enter does not exist for
// them.
func (g Gate) Identify(ctx context.Context, account earshot.Handle, c server.Claim) (participants.Participant, earshot.Audience, error) {
	id := cmp.Or(c.Room, earshot.Desk)
	if _, known := g.people.Find(c.Name); !known && c.Name != "" { // a refused request makes nobody known
		if err := g.MayEnter(participants.Participant{}, id); err != nil {
			return participants.Participant{}, earshot.Audience{}, err
		}
	}
	p, err := g.Authenticate(ctx, account, c)
	if err != nil {
		return p, earshot.Audience{}, err
	}
	return p, earshot.Audience{Room: id, Members: []earshot.ParticipantID{p.Reader()}}, g.MayEnter(p, id)
}

// MayEnter reports why somebody may not enter a room.
func (g Gate) MayEnter(p participants.Participant, id earshot.RoomID) error {
	if is, ok := g.Find(id); ok && g.admits(p, is) {
		return nil
	}
	if is, ok := g.Channel(id); ok && g.admits(p, is) {
		return nil // what was said in a closed one can be read
	}
	return NoRoom(id, g.OpenRooms(p))
}

// Authenticate returns who somebody is. It says that a wrong token is wrong, rather than asking
// for one again.
func (g Gate) Authenticate(ctx context.Context, account earshot.Handle, c server.Claim) (participants.Participant, error) {
	var wrong error
	proven := func(id earshot.ParticipantID) bool {
		if c.Token == "" {
			return false
		}
		var of earshot.ParticipantID
		if of, wrong = g.Tokens.Check(c.Token); wrong == nil && of != id {
			wrong = errors.New("this token belongs to somebody else")
		}
		return wrong == nil
	}
	claim := g.people.Identify
	if c.New {
		claim = g.people.Claim
	}
	p, err := claim(ctx, account, c.Name, proven)
	if err != nil && wrong != nil {
		return p, fmt.Errorf("%[2]w: %[1]w", wrong, err) // the cure for a damaged file comes before the request for a token
	}
	return p, err
}

// Vouch returns who somebody is whom only the token of a claim identifies, the account that goes
// with it, and who reads what they are shown in the room they claim. A name that they also claim
// must be theirs.
func (g Gate) Vouch(ctx context.Context, c server.Claim) (participants.Participant, earshot.Handle, earshot.Audience, error) {
	of, err := g.Tokens.Check(c.Token)
	if err != nil {
		cure := cmp.Or(earshot.Cure(err), "create one on the machine where earshot runs: earshot token create NAME")
		return participants.Participant{}, earshot.Handle{}, earshot.Audience{}, participants.Refuse(participants.ErrToken, err.Error(), cure)
	}
	account := earshot.Handle{Provider: byToken, ID: string(of)}
	whose, _ := g.people.Get(of)
	says := whose
	if c.Name != "" {
		says, _ = g.people.Find(c.Name)
	}
	if whose.ID != of || says.ID != of { // or it has turned out since that they are somebody else
		return participants.Participant{}, account, earshot.Audience{},
			participants.Refuse(participants.ErrToken, "this token belongs to somebody else", "leave out the name, or use that person's token")
	}
	p, around, err := g.Identify(ctx, account, server.Claim{Name: whose.Name, Room: c.Room, Token: c.Token})
	return p, account, around, err
}

// byToken is the provider of the accounts of people whom only a token identifies.
const byToken = "token"

// OpenRooms returns the rooms that somebody may enter.
func (g Gate) OpenRooms(p participants.Participant) (rooms []executive.Room) {
	for _, r := range g.Rooms() {
		if g.admits(p, r) {
			rooms = append(rooms, r)
		}
	}
	return rooms
}

// admits reports whether somebody may enter a room from this machine. A handle gained by a merger
// opens only what it opened before. A channel elsewhere is for operators of earshot, and direct
// messages only for the person they are with, if they have proven it.
func (g Gate) admits(p participants.Participant, is executive.Room) bool {
	among := slices.Contains(is.Actors, p.Reader())
	switch {
	case is.Provider == "":
		return is.Open() || among || p.Can(participants.Operate)
	case len(is.Actors) == 0:
		return p.Can(participants.Operate)
	}
	return among && (p.RequiresAuth || p.Can(participants.Operate))
}

// NoRoom is the error for a room that does not exist for the person who asks.
func NoRoom(id earshot.RoomID, open []executive.Room) error {
	var names []string
	for _, r := range open {
		names = append(names, string(r.ID))
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no room called %q that you may enter", id)
	}
	return fmt.Errorf("there is no room called %q; there are: %s", id, strings.Join(names, ", "))
}

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
