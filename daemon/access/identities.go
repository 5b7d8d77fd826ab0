package access

import (
	"cmp"
	"fmt"
	"os/user"
	"strings"

	"earshot"
	"earshot/participants"
)

// Identities returns the IDs of the participants with a name, or with that ID.
func Identities(people *participants.Registry, me earshot.ParticipantID, names []string) (all []earshot.ParticipantID, err error) {
	for _, name := range names {
		who, known := people.Find(name)
		if !known {
			who, known = people.Get(earshot.ParticipantID(name))
		}
		if !known && strings.EqualFold(name, "me") {
			who, known = people.Get(me)
		}
		if !known {
			return nil, fmt.Errorf("nobody is called %s\n  → see: earshot who", participants.OneLine(name))
		}
		all = append(all, people.Identities(cmp.Or(who.ID, me))...)
	}
	return all, nil
}

// Self is the person who owns this account.
func Self() (h earshot.Handle, name string) {
	u, err := user.Current()
	if err != nil {
		return earshot.Handle{Provider: "console", ID: "uid?"}, ""
	}
	return earshot.Handle{Provider: "console", ID: "uid" + u.Uid}, u.Username
}
