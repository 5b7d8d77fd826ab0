// Package participants knows who exists and who is here: people, agents, and
// the handles by which providers know them.
//
// For now there are two: the person whose account started the daemon, who may
// operate it, and one agent. Everybody else is unknown, and unknown is never
// the operator.
package participants

import (
	"slices"
	"strings"
	"sync"

	"earshot"
)

// The two participants that there are from the beginning. Their IDs stay when
// their names change.
const (
	Owner earshot.ParticipantID = "owner"
	Agent earshot.ParticipantID = "agent"
)

// A Type says what a participant is.
type Type string

// The types.
const (
	Human    Type = "human"
	Internal Type = "internal_agent"
)

// A Participant is somebody who can say something.
type Participant struct {
	ID       earshot.ParticipantID `json:"id"`
	Name     string                `json:"name"`
	Type     Type                  `json:"type"`
	Operator bool                  `json:"operator,omitempty"` // may operate the daemon
}

// A Registry maps handles to participants and knows who is here. It may be
// used from many goroutines.
type Registry struct {
	mu       sync.Mutex
	byID     map[earshot.ParticipantID]Participant
	byHandle map[earshot.Handle]earshot.ParticipantID
	sessions map[earshot.ParticipantID][]string
}

// New returns a registry of the person known as owner, who is called name, and
// of the agent. An account that is called like the agent is called "owner", so
// that nobody can be taken for the other.
func New(owner earshot.Handle, name, agent string) *Registry {
	name = OneLine(name)
	if name == "" || strings.EqualFold(name, agent) {
		name = string(Owner)
	}
	return &Registry{
		byID: map[earshot.ParticipantID]Participant{
			Owner: {Owner, name, Human, true},
			Agent: {Agent, OneLine(agent), Internal, false},
		},
		byHandle: map[earshot.Handle]earshot.ParticipantID{owner: Owner},
		sessions: make(map[earshot.ParticipantID][]string),
	}
}

// Resolve returns who is known by h; the zero Participant is somebody unknown.
func (r *Registry) Resolve(h earshot.Handle) Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[r.byHandle[h]]
}

// Name returns what id is called, for people; an ID nobody has is "unknown",
// and the empty ID "somebody".
func (r *Registry) Name(id earshot.ParticipantID) string {
	if id == "" {
		return "somebody"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.byID[id]; ok {
		return p.Name
	}
	return "unknown"
}

// Come notes that id is here by a session, and reports whether this is the
// first one.
func (r *Registry) Come(id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := r.sessions[id]
	if slices.Contains(had, session) {
		return false
	}
	r.sessions[id] = append(had, session)
	return len(had) == 0
}

// Go notes that a session of id has ended, and reports whether it was the last
// one.
func (r *Registry) Go(id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.sessions[id], session)
	if i < 0 {
		return false
	}
	r.sessions[id] = slices.Delete(r.sessions[id], i, i+1)
	return len(r.sessions[id]) == 0
}

// Here returns the people who are here, by name.
func (r *Registry) Here() []Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	var here []Participant
	for id, sessions := range r.sessions {
		if p, ok := r.byID[id]; ok && len(sessions) > 0 {
			here = append(here, p)
		}
	}
	slices.SortFunc(here, func(a, b Participant) int { return strings.Compare(a.Name, b.Name) })
	return here
}

// maxName is the longest name in bytes: enough for any person, too short for a
// speech.
const maxName = 64

// OneLine returns name as it may stand within a line of a prompt or a screen:
// without control characters, brackets or needless space, and not long.
func OneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return ' '
		case r == '[' || r == ']' || r == ':':
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.Fields(name), " ")
	for len(name) > maxName {
		runes := []rune(name)
		name = string(runes[:len(runes)-1])
	}
	return name
}
