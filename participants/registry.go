package participants

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
)

// A Setup is what a registry starts from.
type Setup struct {
	Account     earshot.Handle // of the person whose account started the daemon
	AccountName string         // the name of the account
	Agents      []Participant  // the internal agents
	Actors      Config         // the section external_actors

	// Operators are the handles that may operate the daemon, among those that providers vouch for:
	// see [Registry.Arrive]. No other such handle may.
	Operators []earshot.Handle

	// Record records a change of the registry that by has made; by is empty if nobody has. It
	// returns when the change is on disk. If nil, changes are forgotten when the process ends.
	Record func(ctx context.Context, by earshot.ParticipantID, change earshot.Actor) error

	// Exclude, if set, keeps other programs that share the journal from changing the registry until it
	// is released, and returns when what they have recorded was applied.
	Exclude func(ctx context.Context) (release func(), err error)

	// Label returns the present or former name of somebody who is not in the registry, such as an
	// agent without a name of its own; empty if it knows none. It may be nil, may block, and does
	// not use the registry.
	Label func(earshot.ParticipantID) string

	// Keeps reports whether somebody is more than a name, for example because they have a token.
	// It may be nil, and does not use the registry.
	Keeps func(earshot.ParticipantID) bool

	// Now and NewID are for new participants. If either is nil, nobody new is let in.
	Now   func() time.Time
	NewID func() earshot.EventID
}

// A Registry maps handles and names to participants, and knows who is present. It is safe for
// concurrent use. Its results are shared and must not be changed.
type Registry struct {
	setup    Setup                  // its Operators are guarded by mu; its Actors are copied to external
	change   chan struct{}          // holds one while a change is being recorded
	external atomic.Pointer[Config] // see Reform

	mu           sync.Mutex
	people       map[earshot.ParticipantID]Participant
	dormant      map[earshot.ParticipantID]bool                  // dismissed agents
	into         map[earshot.ParticipantID]earshot.ParticipantID // who turned out to be whom
	names        nameIndex
	byHandle     map[earshot.Handle]earshot.ParticipantID
	said         map[earshot.Handle]claimedIdentity // by handle, for sessions that do not belong to the account's own person
	shown        map[tokenProof]time.Time           // when a token was last shown
	guests       map[earshot.ParticipantID]time.Time
	arrivals     map[earshot.ParticipantID]*arrival
	visitRecords map[earshot.ParticipantID]*visitRecord // of people who are known only because they gave a name
	numbered     map[string]int                         // the last number given to a name, by its folded form; see distinct
	sessions     map[string]sessionEntry
	here         map[earshot.RoomID]map[string]earshot.ParticipantID // by session
	rosters      map[earshot.RoomID]*Roster                          // for the current version
	version      uint64
}

// New returns a registry of one person, known by owner under this name, and the agent. Nobody new
// is let in. If the name of the account cannot be used, the person is called "owner".
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

// Open returns a registry of the participants known from the beginning. The owner is the actor
// whose handles include the account, otherwise the actor whose ID is [Owner], and otherwise an
// actor without handles who has the account's name. If there is none of these, the owner is added.
func Open(s Setup) (*Registry, error) {
	r := &Registry{
		setup: s, change: make(chan struct{}, 1),
		people: make(map[earshot.ParticipantID]Participant), dormant: make(map[earshot.ParticipantID]bool),
		into: make(map[earshot.ParticipantID]earshot.ParticipantID), names: makeNames(),
		byHandle: make(map[earshot.Handle]earshot.ParticipantID), said: make(map[earshot.Handle]claimedIdentity),
		shown: make(map[tokenProof]time.Time), guests: make(map[earshot.ParticipantID]time.Time),
		arrivals: make(map[earshot.ParticipantID]*arrival), visitRecords: make(map[earshot.ParticipantID]*visitRecord), numbered: make(map[string]int), sessions: make(map[string]sessionEntry),
		here: make(map[earshot.RoomID]map[string]earshot.ParticipantID), rosters: make(map[earshot.RoomID]*Roster),
	}
	r.external.Store(&s.Actors)
	r.people[Generic] = Participant{ID: Generic, Name: string(Generic), Type: Human, Capabilities: capabilities()}
	for _, a := range s.Agents {
		a.Type = Internal
		if err := r.add(a); err != nil {
			return nil, err
		}
	}
	owner := s.Actors.owner(s.Account, s.AccountName)
	for i, a := range s.Actors.Actors {
		if err := r.predeclare(a, i == owner); err != nil {
			return nil, err
		}
	}
	if owner < 0 {
		r.introduceOwner()
	}
	return r, nil
}

// actors returns the current section external_actors.
func (r *Registry) actors() Config { return *r.external.Load() }

// predeclare adds an actor of the configuration.
func (r *Registry) predeclare(a Actor, owner bool) error {
	p := Participant{
		ID: a.ID, Name: a.name(), Type: a.kind(), Description: a.Description, RequiresAuth: a.RequiresAuth,
		Capabilities: capabilities(a.Capabilities...),
	}
	if owner {
		p.Capabilities = capabilities(UseTools, ReadMemory, Operate)
		r.know(r.setup.Account, p.ID)
	}
	for _, h := range a.Handles {
		if handle, ok := parseHandle(h); ok {
			r.know(handle, p.ID)
		}
	}
	return r.add(p)
}

// introduceOwner adds the person whose account it is. They get the name of the account, if it can
// be used.
func (r *Registry) introduceOwner() {
	name, problem := check(r.setup.AccountName)
	if _, near := r.names.same(name, Owner); problem != "" || near {
		name = string(Owner)
	}
	p := Participant{ID: Owner, Name: name, Type: Human, Capabilities: capabilities(UseTools, ReadMemory, Operate)}
	r.people[Owner] = p
	r.names.add(name, Owner, false)
	r.know(r.setup.Account, Owner)
}

// know maps a handle to somebody. The zero Handle is nobody's.
func (r *Registry) know(h earshot.Handle, who earshot.ParticipantID) {
	if h != (earshot.Handle{}) {
		r.byHandle[h] = who
	}
}

// add adds somebody under a name that must be free. An agent that exists already keeps its name,
// even if it would not be given that name now.
func (r *Registry) add(p Participant) error {
	name, problem := check(p.Name)
	if p.Type == Internal {
		name, problem = checkWhole(p.Name)
	}
	if problem != "" {
		return wrongName(p.Name, problem)
	}
	if other, taken := r.names.same(name, p.ID); taken && !(p.Type == Internal && Key(name) != Key(r.people[other].Name)) {
		return r.tooNear(name, other)
	}
	if _, taken := r.names.same(p.Username, p.ID); taken { // it is called by its name alone
		p.Username = ""
	}
	if _, taken := r.people[p.ID]; taken {
		return Refuse(ErrTaken, fmt.Sprintf("there is somebody with the ID %q already", p.ID), "give another")
	}
	p.Name = name
	r.people[p.ID] = p
	r.names.enter(p)
	r.changed()
	return nil
}

// changed notes that the participants, or the people present, have changed.
func (r *Registry) changed() {
	r.version++
	clear(r.rosters)
}

// Resolve returns the participant known by h; the zero Participant if that is unknown.
func (r *Registry) Resolve(h earshot.Handle) Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resolve(h)
}

func (r *Registry) resolve(h earshot.Handle) Participant {
	if id, ok := r.byHandle[h]; ok {
		return r.entitled(h, r.as(id))
	}
	s := r.said[h]
	if p := r.person(s.who); !p.Type.external() || p.guarded() && !s.proven {
		return Participant{} // Claim has not returned them
	}
	return r.as(s.who)
}

// as returns the person to whom id belongs, with at most the rights of id itself; the zero
// Participant if there is none.
func (r *Registry) as(id earshot.ParticipantID) Participant {
	p := r.person(id)
	for next, merged := r.into[id]; merged; next, merged = r.into[next] {
		may := p.Capabilities
		p = r.people[next]
		p.Capabilities = slices.DeleteFunc(slices.Clone(p.Capabilities), func(c Capability) bool { return !slices.Contains(may, c) })
		p.Through = id
	}
	return p
}

// root returns the ID that id has become after all mergers.
func (r *Registry) root(id earshot.ParticipantID) earshot.ParticipantID {
	for {
		next, merged := r.into[id]
		if !merged {
			return id
		}
		id = next
	}
}

// Get returns the participant with an ID, with only the rights of that ID.
func (r *Registry) Get(id earshot.ParticipantID) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.as(id)
	return p, p.ID != ""
}

// Current returns who somebody is now, after mergers of handles and voices; id itself if it is not
// known.
func (r *Registry) Current(id earshot.ParticipantID) earshot.ParticipantID {
	p, _ := r.Get(id)
	return cmp.Or(p.ID, id)
}

// Operate reports whether everybody in a may operate the program.
func (r *Registry) Operate(a earshot.Audience) bool { return r.Only(a, "") }

// Only reports whether everybody in a is id or may operate the program.
func (r *Registry) Only(a earshot.Audience, id earshot.ParticipantID) bool {
	if a.Unknown || len(a.Members)+len(a.Agents) == 0 {
		return false
	}
	for _, member := range slices.Concat(a.Members, a.Agents) {
		if p, _ := r.Get(member); member != id && !p.Can(Operate) {
			return false
		}
	}
	return true
}

// Alone reports whether a contains only who, by whichever of their handles.
func (r *Registry) Alone(a earshot.Audience, who earshot.ParticipantID) bool {
	return !Unnamed(who) && !a.Unknown && len(a.Members) > 0 && !slices.ContainsFunc(a.Members, func(id earshot.ParticipantID) bool {
		p, _ := r.Get(id)
		return p.ID != who
	})
}

// Find returns the participant with a name, with only the rights of that name. Case and width make
// no difference. A text that only looks like a name finds nobody.
func (r *Registry) Find(name string) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.names.find(name)
	if !ok || r.dormant[id] {
		return Participant{}, false
	}
	return r.as(id), true
}

// Name returns the name of id for people. An ID that nobody has is called "unknown", the empty ID
// "somebody", and a guest who has left "a guest". An unnamed voice of an earlier run has the number
// that it had then.
func (r *Registry) Name(id earshot.ParticipantID) string {
	if id == "" {
		return "somebody"
	}
	r.mu.Lock()
	p := r.person(r.root(id))
	r.mu.Unlock()
	if p.ID != "" {
		return p.Name
	}
	if strings.HasPrefix(string(id), guestPrefix) {
		return "a guest"
	}
	if OfVoice(id) {
		return voiceName(id)
	}
	if r.setup.Label != nil {
		return cmp.Or(r.setup.Label(id), "unknown")
	}
	return "unknown"
}

// Everybody returns all external actors and agents, sorted by name.
func (r *Registry) Everybody() []Participant {
	return r.choose(func(p Participant) bool { return true })
}

// Known returns the people that somebody can claim to be, sorted by name: all external actors
// except those without a name of their own, such as guests and voices, and those known because a
// provider knows them.
func (r *Registry) Known() []Participant {
	return r.choose(func(p Participant) bool {
		_, guest := r.guests[p.ID]
		return p.Type != Internal && !guest && !p.Nameless() && !p.Arrived()
	})
}

// choose returns the matching participants, sorted by name. It leaves out those who were merged
// into others, dismissed agents, and the generic participant.
func (r *Registry) choose(fits func(Participant) bool) []Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	var chosen []earshot.ParticipantID
	for id, p := range r.people {
		if _, merged := r.into[id]; !merged && !r.dormant[id] && id != Generic && fits(p) {
			chosen = append(chosen, id)
		}
	}
	return r.byName(chosen)
}

// Version rises with every change of the participants or of who is present.
func (r *Registry) Version() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}
