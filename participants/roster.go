package participants

import (
	"slices"

	"earshot"
)

// Come notes that id has joined a room with a session, and reports whether this is their first
// session there. For somebody [Unnamed] it never is.
func (r *Registry) Come(room earshot.RoomID, id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, is := r.here[room][session]; Unnamed(id) || is && was == id {
		return false
	}
	first := !r.present(room, id)
	if r.here[room] == nil {
		r.here[room] = make(map[string]earshot.ParticipantID)
	}
	r.here[room][session] = id
	r.changed()
	return first
}

// Go notes that a session of id has left a room, and reports whether it was their last session
// there.
func (r *Registry) Go(room earshot.RoomID, id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, is := r.here[room][session]; !is || r.root(was) != r.root(id) {
		return false
	}
	delete(r.here[room], session)
	if len(r.here[room]) == 0 {
		delete(r.here, room)
	}
	r.changed()
	return !r.present(room, id)
}

func (r *Registry) present(room earshot.RoomID, id earshot.ParticipantID) bool {
	for _, other := range r.here[room] {
		if r.root(other) == r.root(id) {
			return true
		}
	}
	return false
}

// Here returns the external actors in a room, sorted by name.
func (r *Registry) Here(room earshot.RoomID) []Participant { return r.Roster(room).External }

// A Roster says who is in a room. It is shared and must not be changed.
type Roster struct {
	Version  uint64        // a different one means that something may have changed
	External []Participant // sorted by name
	Internal []Participant // sorted by name
}

// Roster returns who is in a room. It returns the same Roster until anything changes, so a caller
// can compare its address or version to see whether something derived from it is current.
func (r *Registry) Roster(room earshot.RoomID) *Roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	if made := r.rosters[room]; made != nil {
		return made
	}
	var external, internal []earshot.ParticipantID
	for _, id := range r.here[room] {
		external = append(external, r.root(id))
	}
	for id, p := range r.people {
		if p.Type == Internal && !r.dormant[id] {
			internal = append(internal, id)
		}
	}
	made := &Roster{Version: r.version, External: r.byName(external), Internal: r.byName(internal)}
	r.rosters[room] = made
	return made
}

// byName returns those of these people who are known, without duplicates, sorted by name.
func (r *Registry) byName(people []earshot.ParticipantID) []Participant {
	all := slices.Grow([]Participant(nil), len(people))
	for _, id := range r.names.sort(people) {
		if p, known := r.people[id]; known {
			all = append(all, p)
		}
	}
	return all
}
