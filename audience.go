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
	Members []ParticipantID `json:"members,omitempty"` // of a private one
}

// An Audience is everybody who may perceive what is shown or said to it: a
// reader of the transcript, or all who stand around a set of outlets.
type Audience struct {
	Room    RoomID
	Members []ParticipantID
	Unknown bool // people whom nobody knows may be among them, as around a loudspeaker
}

// Allows reports whether every member of a may see an event of its room.
func (v Visibility) Allows(a Audience) bool {
	switch v.Scope {
	case Public, System:
		return true
	case Private:
		if a.Unknown || len(a.Members) == 0 {
			return false
		}
		for _, m := range a.Members {
			if !slices.Contains(v.Members, m) {
				return false
			}
		}
		return true
	}
	return false
}

// And returns the visibility of what was derived from an event seen by v and
// one seen by w: those who may see both.
func (v Visibility) And(w Visibility) Visibility {
	switch {
	case v.Scope == "" || w.Scope == "":
		return Visibility{}
	case v.Scope != Private && w.Scope != Private:
		return Visibility{Scope: Public}
	case v.Scope != Private:
		return w
	case w.Scope != Private:
		return v
	}
	both := Visibility{Scope: Private}
	for _, m := range v.Members {
		if slices.Contains(w.Members, m) {
			both.Members = append(both.Members, m)
		}
	}
	return both
}
