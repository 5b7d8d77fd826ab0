package earshot

import "slices"

// A Scope says how far an event reaches.
type Scope string

// The scopes.
const (
	Public  Scope = "public"  // everybody in the room
	Private Scope = "private" // the members of its Visibility alone
	System  Scope = "system"  // everybody in the room; starts no reply
)

// A Visibility says who may see an event. It is fixed when the event is
// admitted. The zero value lets nobody see it, so that a forgotten one hides
// rather than shows.
type Visibility struct {
	Scope   Scope           `json:"scope"`
	Members []ParticipantID `json:"members,omitempty"` // of a private one: people and agents

	// Agents are those that may see it, of whatever scope; nil means all, and
	// an empty list none. People who share the room are not affected.
	Agents []ParticipantID `json:"agents,omitzero"`
}

// An Audience is everybody who may perceive what is shown or said to it: a
// reader of the transcript, or all who stand around a set of outlets, and the
// agents that read along.
type Audience struct {
	Room    RoomID
	Members []ParticipantID // people
	Agents  []ParticipantID // that read it, as one does whose prompt it is
	Unknown bool            // people whom nobody knows may be among them, as around a loudspeaker
}

// With returns a with one more agent.
func (a Audience) With(agent ParticipantID) Audience {
	a.Agents = append(slices.Clip(a.Agents), agent)
	return a
}

// Allows reports whether every member of a may see an event of its room.
func (v Visibility) Allows(a Audience) bool {
	switch v.Scope {
	case Public, System:
	case Private:
		if a.Unknown || len(a.Members)+len(a.Agents) == 0 || !within(a.Members, v.Members) || !within(a.Agents, v.Members) {
			return false
		}
	default:
		return false
	}
	return v.Agents == nil || within(a.Agents, v.Agents)
}

// AllowsAgent reports whether one agent may see an event of its room.
func (v Visibility) AllowsAgent(agent ParticipantID) bool {
	return v.Allows(Audience{}.With(agent))
}

// And returns the visibility of what was derived from an event seen by v and
// one seen by w: those who may see both.
func (v Visibility) And(w Visibility) Visibility {
	both := Visibility{Scope: Public, Agents: narrower(v.Agents, w.Agents)}
	switch {
	case v.Scope == "" || w.Scope == "":
		return Visibility{}
	case v.Scope == Private && w.Scope == Private:
		both.Scope, both.Members = Private, common(v.Members, w.Members)
	case v.Scope == Private:
		both.Scope, both.Members = Private, v.Members
	case w.Scope == Private:
		both.Scope, both.Members = Private, w.Members
	}
	return both
}

// Reaches reports whether all people who may see something of visibility w may also
// see something of visibility v. Which agents may is not asked.
func (v Visibility) Reaches(w Visibility) bool {
	switch {
	case v.Scope == "" || w.Scope == "":
		return false
	case v.Scope != Private:
		return true
	}
	return w.Scope == Private && within(w.Members, v.Members)
}

// narrower returns the agents in both lists, of which nil is all.
func narrower(a, b []ParticipantID) []ParticipantID {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return append([]ParticipantID{}, common(a, b)...)
}

// common returns what is in both lists.
func common(a, b []ParticipantID) (both []ParticipantID) {
	for _, m := range a {
		if slices.Contains(b, m) {
			both = append(both, m)
		}
	}
	return both
}

// within reports whether all of some are in list.
func within(some, list []ParticipantID) bool {
	return !slices.ContainsFunc(some, func(m ParticipantID) bool { return !slices.Contains(list, m) })
}
