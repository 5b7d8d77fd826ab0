package agents

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
	"earshot/participants"
)

const (
	longestName        = 40       // characters; it precedes every reply
	longestDescription = 200      // bytes; it is in every prompt
	longestPrompt      = 16 << 10 // bytes; about the size of the smallest context
	longestModel       = 200      // bytes
	mostRooms          = 32       // more rooms than there can be
)

// A profileScope is what a profile may refer to.
type profileScope struct {
	rooms   []earshot.RoomID
	engines []string
}

// profile returns the profile of r in the form in which it is kept, or everything that is wrong
// with it. The caller has called begin.
func (b *Directory) profile(r Record) (earshot.Profile, error) {
	p := r.Profile
	faults := []error{
		profileScope{b.setup.Rooms, b.setup.Engines}.check(p), homeless(r.User, p),
		field.Check(p.Name != "" || p.Username+p.Workspace == "", "name", "is empty; only an agent with a name has a username or a workspace"),
	}
	if p.Name != "" || !r.Kind.Below() && (r.Kind == earshot.PathAgent || r.Kind == earshot.PathSubuser) {
		var err error
		if p.Name, err = participants.CheckAgent(p.Name); err != nil {
			return p, err
		}
	}
	if p.Username != "" {
		var err error
		if p.Username, err = participants.CheckAgent(p.Username); err != nil {
			return p, err
		}
	}
	if p.Workspace != "" {
		faults = append(faults, b.sharer(r))
	}
	if p.Main {
		faults = append(faults, b.rival(r))
	}
	if err := errors.Join(faults...); err != nil {
		return p, participants.Refuse(ErrProfile, err.Error(), "change it and try again")
	}
	if p.Version == 0 && p.Prompt != "" && !r.Configured {
		p.Version = Newest
	}
	if p.Prompt == "" {
		p.Version = 0
	}
	return p, nil
}

// rival returns an error if r is to be the main agent of a room that already has another one.
func (b *Directory) rival(r Record) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, s := range b.seats {
		if s.ID != r.ID && s.Main && overlap(s.Rooms, r.Rooms) {
			return field.Errorf("main", "is true, but %s is the main agent there already; set its main to no first", s.Name)
		}
	}
	return nil
}

// sharer returns an error if another agent of the same user has the workspace that r is to have.
func (b *Directory) sharer(r Record) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, other := range b.live {
		if other.ID != r.ID && other.User == r.User && other.Workspace == r.Workspace {
			return field.Errorf("workspace", "is %q, which is that of %s; choose another", r.Workspace, cmp.Or(other.Name, string(other.Path)))
		}
	}
	return nil
}

// overlap reports whether two lists of rooms have a room in common. An empty list means all rooms.
func overlap(a, b []earshot.RoomID) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(room earshot.RoomID) bool { return slices.Contains(b, room) })
}

// homeless requires that the agents of a subuser list their rooms: in other rooms they would hear
// what belongs to another user.
func homeless(user earshot.ParticipantID, p earshot.Profile) error {
	if user != "" && user != participants.Owner && len(p.Rooms) == 0 && p.Name != "" {
		return field.Errorf("rooms", "is empty; an agent of a subuser must be told in which rooms it sits")
	}
	return nil
}

// check reports every fault of a profile except its name.
func (h profileScope) check(p earshot.Profile) error {
	name := max(utf8.RuneCountInString(p.Name), utf8.RuneCountInString(p.Username))
	folder, wrong := participants.CheckWord(p.Workspace)
	odd := strings.ContainsFunc(p.Description, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' || r == ']' })
	notWord := strings.ContainsFunc(p.Model, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
	return errors.Join(
		field.Check(p.Workspace == "" || wrong == nil && folder == p.Workspace,
			"workspace", "is %q; must be one word of small letters, digits and - . _, such as notes", participants.OneLine(p.Workspace)),
		field.Check(name <= longestName, "name", "has %d characters; must be at most %d", name, longestName),
		field.Check(len(p.Description) <= longestDescription,
			"description", "has %d bytes; must have at most %d, because it is part of every prompt", len(p.Description), longestDescription),
		field.Check(!odd, "description", "has a bracket or an invisible character in it; must be one line of text"),
		field.Check(len(p.Prompt) <= longestPrompt, "prompt", "has %d bytes; must be at most %d", len(p.Prompt), longestPrompt),
		field.Check(utf8.ValidString(string(p.Prompt)) && !strings.ContainsRune(string(p.Prompt), 0), "prompt", "is not text"),
		field.Check(p.Engine == "" || slices.Contains(h.engines, p.Engine),
			"engine", "is %q; %s", participants.OneLine(p.Engine), choose("the name of an engine of executive.llm", h.engines)),
		field.Check(len(p.Model) <= longestModel && !notWord, "model", "must be the server's name of the model: one word of at most %d bytes", longestModel),
		h.checkRooms(p.Rooms),
	)
}

func (h profileScope) checkRooms(rooms []earshot.RoomID) error {
	if n := len(rooms); n > mostRooms {
		return field.Errorf("rooms", "has %d entries; must have at most %d", n, mostRooms)
	}
	var faults []error
	for i, room := range rooms {
		key := fmt.Sprintf("rooms[%d]", i)
		if slices.Contains(rooms[:i], room) {
			faults = append(faults, field.Errorf(key, "is %q, which is listed already", participants.OneLine(string(room))))
		} else if !slices.Contains(h.rooms, room) {
			faults = append(faults, field.Errorf(key, "is %q; %s", participants.OneLine(string(room)), choose("one of the rooms", h.rooms)))
		}
	}
	return errors.Join(faults...)
}

// choose lists what can be chosen.
func choose[S ~string](what string, from []S) string {
	if len(from) == 0 {
		return "must be " + what + ", but there is none"
	}
	var names []string
	for _, s := range from {
		names = append(names, string(s))
	}
	return "must be " + what + ": " + strings.Join(names, ", ")
}
