package participants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
)

// A Setup is what a registry begins with.
type Setup struct {
	Account     earshot.Handle // of the person whose account started the daemon
	AccountName string         // what the account is called
	Agents      []Participant  // the internal agents
	Actors      Config         // the section external_actors

	// Record keeps a change of the registry. It returns when the change is on
	// disk. If nil, changes are forgotten with the process.
	Record func(context.Context, earshot.Actor) error

	Now   func() time.Time
	NewID func() earshot.EventID
}

// A Session is one connection by which somebody is here, such as one terminal.
type Session struct {
	ID          string // unique for ever
	Room        earshot.RoomID
	Participant earshot.ParticipantID
	Account     earshot.Handle // as the kernel or the provider knows them
	Outlet      string         // where an answer to them alone comes out; may be empty
	Connection  string         // what kind of connection it is, such as "terminal"
	Address     string         // of a remote one
	Since       time.Time
}

// A Registry maps handles and names to participants, and knows who is here. It
// may be used from many goroutines.
type Registry struct {
	setup Setup

	mu       sync.Mutex
	byID     map[earshot.ParticipantID]Participant
	byHandle map[earshot.Handle]earshot.ParticipantID
	sessions map[string]Session
	here     map[place][]string // sessions
	version  uint64
}

// place is somebody in a room.
type place struct {
	room earshot.RoomID
	who  earshot.ParticipantID
}

// Errors of [Registry.Claim].
var (
	ErrReserved = errors.New("the name belongs to an agent")
	ErrToken    = errors.New("a token is needed")
	ErrUnknown  = errors.New("nobody is called that")
)

// New returns a registry of the person known as owner, who is called name, and
// of the agent. An account whose name cannot be used is called "owner".
func New(owner earshot.Handle, name, agent string) *Registry {
	r, err := Open(Setup{
		Account: owner, AccountName: name, Actors: DefaultConfig(),
		Agents: []Participant{{ID: Agent, Name: OneLine(agent), Type: Internal}},
	})
	if err != nil {
		panic(fmt.Sprintf("participants: %v", err)) // an agent's name is checked with the configuration
	}
	return r
}

// Open returns a registry of who there is from the beginning.
func Open(s Setup) (*Registry, error) {
	r := &Registry{
		setup: s, byID: make(map[earshot.ParticipantID]Participant), byHandle: make(map[earshot.Handle]earshot.ParticipantID),
		sessions: make(map[string]Session), here: make(map[place][]string),
	}
	for _, a := range s.Agents {
		r.byID[a.ID] = a
	}
	name := OneLine(s.AccountName)
	if _, taken := r.Find(name); name == "" || taken {
		name = string(Owner)
	}
	r.byID[Owner] = Participant{ID: Owner, Name: name, Type: Human, Capabilities: []Capability{SendMessages, UseTools, ReadMemory, Operate}}
	r.byHandle[s.Account] = Owner
	return r, nil
}

// Apply takes in a change that was recorded earlier.
func (r *Registry) Apply(earshot.Actor) {}

// Resolve returns who is known by h; the zero Participant is somebody unknown.
func (r *Registry) Resolve(h earshot.Handle) Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[r.byHandle[h]]
}

// Get returns who has an ID.
func (r *Registry) Get(id earshot.ParticipantID) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.byID[id]
	return p, ok
}

// Find returns who is called name, however it is written.
func (r *Registry) Find(name string) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.byID {
		if strings.EqualFold(p.Name, name) {
			return p, true
		}
	}
	return Participant{}, false
}

// Name returns what id is called, for people; an ID nobody has is "unknown",
// and the empty ID "somebody".
func (r *Registry) Name(id earshot.ParticipantID) string {
	if id == "" {
		return "somebody"
	}
	if p, ok := r.Get(id); ok {
		return p.Name
	}
	return "unknown"
}

// Claim returns who somebody known by account is when they say that they are
// called name. Proven reports whether they have shown a token of a participant;
// it may be nil. Whoever is new is created, if the configuration allows it. An
// empty name is that of the account.
func (r *Registry) Claim(ctx context.Context, account earshot.Handle, name string, proven func(earshot.ParticipantID) bool) (Participant, error) {
	if name == "" {
		if p := r.Resolve(account); p.ID != "" {
			return p, nil
		}
	}
	if p, ok := r.Find(name); ok {
		return p, nil
	}
	return Participant{}, ErrUnknown
}

// Everybody returns all external actors and agents that there are, by name.
func (r *Registry) Everybody() []Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Participant
	for _, p := range r.byID {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Participant) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Version rises with every change of who exists or who is here.
func (r *Registry) Version() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// Known returns whom somebody can say to be, by name: all external actors but
// those without one of their own.
func (r *Registry) Known() []Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	var known []Participant
	for _, p := range r.byID {
		if p.Type != Internal {
			known = append(known, p)
		}
	}
	slices.SortFunc(known, func(a, b Participant) int { return strings.Compare(a.Name, b.Name) })
	return known
}

// Attach notes a session, and returns the handle by which what comes from it is
// resolved: that of the account, or another if the session is of somebody else.
// It says nothing about who is here; see [Registry.Come].
func (r *Registry) Attach(s Session) earshot.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[s.ID] = s
	return r.handle(s)
}

// Handle returns the handle of a session; see [Registry.Attach].
func (r *Registry) Handle(session string) earshot.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sessions[session]
	if !ok {
		return earshot.Handle{}
	}
	return r.handle(s)
}

func (r *Registry) handle(s Session) earshot.Handle {
	if r.byHandle[s.Account] == s.Participant {
		return s.Account
	}
	h := earshot.Handle{Provider: s.Account.Provider, ID: s.Account.ID + "/" + string(s.Participant)}
	r.byHandle[h] = s.Participant
	return h
}

// At returns the session whose outlet is called so.
func (r *Registry) At(outlet string) (Session, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if s.Outlet == outlet {
			return s, true
		}
	}
	return Session{}, false
}

// Sessions returns the sessions of somebody, the oldest first.
func (r *Registry) Sessions(id earshot.ParticipantID) []Session { return nil }

// Become makes a session that of somebody else.
func (r *Registry) Become(session string, who earshot.ParticipantID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[session]
	s.Participant = who
	r.sessions[session] = s
}

// Detach forgets a session.
func (r *Registry) Detach(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, session)
}

// Come notes that id is in a room by a session, and reports whether this is the
// first one there.
func (r *Registry) Come(room earshot.RoomID, id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := place{room, id}
	had := r.here[at]
	if slices.Contains(had, session) {
		return false
	}
	r.here[at] = append(had, session)
	r.version++
	return len(had) == 0
}

// Go notes that a session of id has left a room, and reports whether it was the
// last one there.
func (r *Registry) Go(room earshot.RoomID, id earshot.ParticipantID, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := place{room, id}
	i := slices.Index(r.here[at], session)
	if i < 0 {
		return false
	}
	r.here[at] = slices.Delete(r.here[at], i, i+1)
	r.version++
	return len(r.here[at]) == 0
}

// Here returns the external actors who are in a room, by name.
func (r *Registry) Here(room earshot.RoomID) []Participant { return r.Roster(room).External }

// A Roster is who is in a room. It is shared: nobody changes it.
type Roster struct {
	Version  uint64        // another one means that something may be different
	External []Participant // who are here, by name
	Internal []Participant // by name
}

// Roster returns who is in a room. It is made again only after a change of
// anybody.
func (r *Registry) Roster(room earshot.RoomID) *Roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	roster := &Roster{Version: r.version}
	for at, sessions := range r.here {
		if p, ok := r.byID[at.who]; ok && at.room == room && len(sessions) > 0 {
			roster.External = append(roster.External, p)
		}
	}
	for _, p := range r.byID {
		if p.Type == Internal {
			roster.Internal = append(roster.Internal, p)
		}
	}
	byName := func(a, b Participant) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(roster.External, byName)
	slices.SortFunc(roster.Internal, byName)
	return roster
}

// Merge makes other the same person as keep: the handles of other are those of
// keep from now on, and so is its name on old lines. Nobody sees more of the
// past than before, and nobody may do more: what is done by a handle that came
// by a merger has no more rights than the handle had. Only who may operate the
// daemon may merge.
func (r *Registry) Merge(ctx context.Context, by Participant, keep, other earshot.ParticipantID) error {
	return nil
}

// Split undoes the merger of other.
func (r *Registry) Split(ctx context.Context, by Participant, other earshot.ParticipantID) error {
	return nil
}
