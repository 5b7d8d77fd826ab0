package agents

import (
	"context"
	"fmt"

	"earshot"
	"earshot/participants"
)

// Subuser makes a subuser, which is a user with its own agents, and returns the gateway to them. id
// is the subuser's user ID. The gateway may have its own name; without one it is named after the
// subuser. Only somebody who may operate the daemon may do it.
func (b *Directory) Subuser(ctx context.Context, by participants.Participant, id string, p earshot.Profile) (Record, error) {
	if err := operates(by, "make a subuser"); err != nil {
		return Record{}, err
	}
	path, err := subuserPath(id)
	if err != nil {
		return Record{}, err
	}
	if p.Name == "" {
		p.Name = gatewayName(id)
	}
	return b.birth(ctx, by.ID, Record{User: participants.Owner, Kind: earshot.PathSubuser, Profile: p}, exactly(path))
}

// subuserPath returns the path of the gateway of a subuser. It refuses the owner, and an ID that
// looks like the owner's, because ending such a gateway would end all of the owner's agents.
func subuserPath(id string) (earshot.Path, error) {
	if participants.Near(id, string(participants.Owner)) {
		return "", participants.Refuse(ErrTaken, fmt.Sprintf("the subuser %q could be mistaken for the owner", participants.OneLine(id)), "choose another ID, such as family")
	}
	return PathOf(string(participants.Owner), earshot.PathSubuser, id)
}

func gatewayName(id string) string { return id + " gateway" }

// Gate returns the subuser whose agents r gives access to; empty if r is not a gateway.
func (r Record) Gate() earshot.ParticipantID {
	if r.Kind != earshot.PathSubuser {
		return ""
	}
	at, _ := ParsePath(r.Path)
	return earshot.ParticipantID(at.Name)
}

// Reaches says why an agent cannot send a message to another; nil if it can. Agents of one user
// reach each other. The agents of a subuser and those of the user above it are connected only by
// the gateway, which reaches both. Agents of the program itself reach all. The error is [ErrApart],
// and says through whom the other agent is reached.
func Reaches(from, to Record) error {
	switch {
	case from.User == to.User, from.User == "", to.User == "":
		return nil
	case from.Gate() == to.User, to.Gate() == from.User:
		return nil
	}
	cure := fmt.Sprintf("tell a person, or send it to the gateway of %s", to.User)
	return participants.Refuse(ErrApart, fmt.Sprintf("%s belongs to another user, %s", PathLabel(to.Path, to.Name), to.User), cure)
}
