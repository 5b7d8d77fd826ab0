package executive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/internal/field"
)

const (
	mostRooms       = 1024 // each keeps a dialogue in memory
	longestRoom     = 40   // bytes of an ID, characters of a name; both stand in a line with others
	mostRoomMembers = 200
)

// A Room is one entry of the section rooms.
type Room struct {
	ID     earshot.RoomID          `yaml:"id"`
	Name   string                  `yaml:"name"`   // for people; empty means the ID
	Actors []earshot.ParticipantID `yaml:"actors"` // who may enter; empty means everybody

	// Provider is the one by which people are in it, of a room that was opened for it,
	// such as "discord". Nobody enters by saying who they are.
	Provider string `yaml:"-"`
}

// reserved is the beginning of the IDs of rooms that are opened for a provider.
const reserved = "discord-"

// Open reports whether everybody may enter.
func (r Room) Open() bool { return len(r.Actors) == 0 && r.Provider == "" }

// Rooms is the section rooms of the configuration.
type Rooms []Room

// All returns every room that there is, the desk first.
func (r Rooms) All() []Room {
	desk := Room{ID: earshot.Desk}
	var others []Room
	for _, room := range r {
		if room.Name == "" {
			room.Name = string(room.ID)
		}
		if room.ID == earshot.Desk {
			desk = room
			continue
		}
		others = append(others, room)
	}
	if desk.Name == "" {
		desk.Name = string(earshot.Desk)
	}
	return append([]Room{desk}, others...)
}

// Find returns a room that there is.
func (r Rooms) Find(id earshot.RoomID) (is Room, found bool) {
	for i := range r {
		if r[i].ID == id {
			is, found = r[i], true
		}
	}
	is.ID, is.Name = id, cmp.Or(is.Name, string(id))
	return is, found || id == earshot.Desk
}

// Validate reports every fault in r, not only the first.
func (r Rooms) Validate() error {
	faults := []error{entries("rooms", len(r), mostRooms)}
	for i, room := range r {
		at := fmt.Sprintf("rooms[%d]", i)
		faults = append(faults, field.Under(at, room.validate()))
		if slices.ContainsFunc(r[:i], func(other Room) bool { return other.ID == room.ID }) {
			faults = append(faults, field.Errorf(at+".id", "is %q, as another room's", room.ID))
		}
	}
	return errors.Join(faults...)
}

func (r Room) validate() error {
	var faults []error
	switch id := string(r.ID); {
	case id == "":
		faults = append(faults, field.Errorf("id", "is empty; a room needs one, such as kitchen"))
	case len(id) > longestRoom:
		faults = append(faults, field.Errorf("id", "has %d bytes; must have at most %d", len(id), longestRoom))
	case strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.HasPrefix(id, "-"):
		faults = append(faults, field.Errorf("id", "is %q; must be made of small letters, digits, - and _, such as kitchen", id))
	}
	if strings.HasPrefix(string(r.ID), reserved) {
		faults = append(faults, field.Errorf("id", "is %q; those that begin with %q are opened by themselves", r.ID, reserved))
	}
	if n := utf8.RuneCountInString(r.Name); n > longestRoom || strings.ContainsFunc(r.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		faults = append(faults, field.Errorf("name", "must be at most %d characters that can be seen", longestRoom))
	}
	return errors.Join(append(faults, entries("actors", len(r.Actors), mostRoomMembers))...)
}
