package main

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
	"earshot/internal/probe"
	"earshot/participants"
	"earshot/server"
	"earshot/server/token"
)

// A gate decides who is who, and who may enter which room. It is the same for
// those who come in and for those who read what was said.
type gate struct {
	people *participants.Registry
	tokens *token.Store
	rooms  func() []executive.Room // that there are
}

// newGate returns the gate of what cfg says.
func newGate(cfg *config.Config, people *participants.Registry) gate {
	return gate{people: people, tokens: token.In(cfg.Store.Directory), rooms: cfg.Rooms.All}
}

// pass returns who somebody is whom the kernel or a provider knows by account,
// and who reads what is shown to them in the room that they claim. A room that
// they may not enter does not exist.
func (g gate) pass(ctx context.Context, account earshot.Handle, c server.Claim) (participants.Participant, earshot.Audience, error) {
	id := cmp.Or(c.Room, earshot.Desk)
	if _, known := g.people.Find(c.Name); !known && c.Name != "" { // nobody comes to be known by a closed door
		if err := g.enters(participants.Participant{}, id); err != nil {
			return participants.Participant{}, earshot.Audience{}, err
		}
	}
	p, err := g.who(ctx, account, c)
	if err != nil {
		return p, earshot.Audience{}, err
	}
	return p, earshot.Audience{Room: id, Members: []earshot.ParticipantID{p.Reader()}}, g.enters(p, id)
}

// enters reports why somebody may not enter a room.
func (g gate) enters(p participants.Participant, id earshot.RoomID) error {
	open := g.open(p)
	if slices.ContainsFunc(open, func(r executive.Room) bool { return r.ID == id }) {
		return nil
	}
	if is, ok := g.channel(id); ok && g.admits(p, is) {
		return nil // what was said in one that is not open can be read
	}
	return noRoom(id, open)
}

// who returns who somebody is. A token that is wrong is said to be wrong, rather
// than asked for again.
func (g gate) who(ctx context.Context, account earshot.Handle, c server.Claim) (participants.Participant, error) {
	var wrong error
	proven := func(id earshot.ParticipantID) bool {
		if c.Token == "" {
			return false
		}
		var of earshot.ParticipantID
		if of, wrong = g.tokens.Check(c.Token); wrong == nil && of != id {
			wrong = errors.New("this token is somebody else's")
		}
		return wrong == nil
	}
	claim := g.people.Identify
	if c.New {
		claim = g.people.Claim
	}
	p, err := claim(ctx, account, c.Name, proven)
	if err != nil && wrong != nil {
		return p, fmt.Errorf("%[2]w: %[1]w", wrong, err) // what mends a damaged file goes before asking for a token
	}
	return p, err
}

// vouch returns who somebody is whom nobody knows but by the token of a claim, the account
// that they have by it, and who reads what is shown to them in the room that they claim. A
// name that they claim besides must be theirs.
func (g gate) vouch(ctx context.Context, c server.Claim) (participants.Participant, earshot.Handle, earshot.Audience, error) {
	of, err := g.tokens.Check(c.Token)
	if err != nil {
		cure := cmp.Or(probe.Cure(err), "make one on the machine where earshot runs: earshot token create NAME")
		return participants.Participant{}, earshot.Handle{}, earshot.Audience{}, participants.Refuse(participants.ErrToken, err.Error(), cure)
	}
	account := earshot.Handle{Provider: byToken, ID: string(of)}
	whose, _ := g.people.Get(of)
	says := whose
	if c.Name != "" {
		says, _ = g.people.Find(c.Name)
	}
	if whose.ID != of || says.ID != of { // or it has been found out since that they are somebody else
		return participants.Participant{}, account, earshot.Audience{},
			participants.Refuse(participants.ErrToken, "this token is somebody else's", "say no name, or show the token of whom you say to be")
	}
	p, around, err := g.pass(ctx, account, server.Claim{Name: whose.Name, Room: c.Room, Token: c.Token})
	return p, account, around, err
}

// byToken is the provider of the accounts of those for whom nothing but a token vouches.
const byToken = "token"

// open returns the rooms that somebody may enter.
func (g gate) open(p participants.Participant) (rooms []executive.Room) {
	for _, r := range g.rooms() {
		if g.admits(p, r) {
			rooms = append(rooms, r)
		}
	}
	return rooms
}

// admits reports whether somebody may enter a room from this machine. A handle that came
// by a merger opens what it has opened before. A channel elsewhere is for who operates
// earshot, and direct messages for nobody but whom they are with, if they have proven
// that.
func (g gate) admits(p participants.Participant, is executive.Room) bool {
	among := slices.Contains(is.Actors, p.Reader())
	switch {
	case is.Provider == "":
		return is.Open() || among || p.Can(participants.Operate)
	case len(is.Actors) == 0:
		return p.Can(participants.Operate)
	}
	return among && (p.RequiresAuth || p.Can(participants.Operate))
}

// noRoom is the error of whoever asks for a room that is not there for them.
func noRoom(id earshot.RoomID, open []executive.Room) error {
	var names []string
	for _, r := range open {
		names = append(names, string(r.ID))
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no room called %q for you", id)
	}
	return fmt.Errorf("there is no room called %q; there are: %s", id, strings.Join(names, ", "))
}
