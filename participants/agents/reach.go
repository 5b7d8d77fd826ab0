package agents

import (
	"fmt"

	"earshot"
	"earshot/participants/paths"
)

// Gate returns the subuser whose agents are reached by r; empty if r is no
// gateway.
func (r Record) Gate() earshot.ParticipantID {
	if r.Kind != paths.Subuser {
		return ""
	}
	at, _ := paths.Parse(r.Path)
	return earshot.ParticipantID(at.Name)
}

// Reaches says why an agent cannot send a message to another. Those of one user
// reach each other. Between those of a subuser and those of the user above there
// is only the gateway, which reaches both; those of the house itself reach all.
// The error is [ErrApart], and says by whom the other is reached.
func Reaches(from, to Record) error {
	switch {
	case from.User == to.User, from.User == "", to.User == "":
		return nil
	case from.Gate() == to.User, to.Gate() == from.User:
		return nil
	}
	cure := fmt.Sprintf("tell a person, or send it to the gateway of %s", to.User)
	return refuse(ErrApart, fmt.Sprintf("%s belongs to another user, %s", paths.Label(to.Path, to.Name), to.User), cure)
}
