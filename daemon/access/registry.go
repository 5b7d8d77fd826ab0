package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server/token"
	"earshot/store"
)

// How many changes of the registry are read, at once and in all. A person made each of them by
// hand, or arrived through a provider or got a new name there. Older arrivals are dropped, and
// those people arrive anew. Changes of people who have lapsed do not count, or a flood of names
// would make others forgotten.
const (
	changesAtOnce = 5_000
	mostChanges   = 20_000
	mostPages     = 400 // a million lapsed people
)

// A RegistryBuilder builds the registry of participants, for the daemon and for the commands that
// read beside it.
type RegistryBuilder struct {
	*config.Config
	Account earshot.Handle // of the person who owns this account
	Name    string         // the name of the account
	Record  func(context.Context, earshot.ParticipantID, earshot.Actor) error
	Exclude func(context.Context) (release func(), err error) // see [participants.Setup]; may be nil
	NewID   func() earshot.EventID
	Book    *agents.Directory // of the agents; nil if none was written yet
}

// Build returns the registry: the people of the configuration, with the later changes in the
// journal, if there is one yet.
func (c RegistryBuilder) Build(ctx context.Context, journal func(earshot.Audience) *store.Reader) (*participants.Registry, error) {
	s := participants.Setup{
		Account: c.Account, AccountName: c.Name, Actors: c.ExternalActors, Agents: c.agents(),
		Record: c.Record, Exclude: c.Exclude, Now: time.Now, NewID: c.NewID, Operators: c.operators(), Keeps: hasToken(c.Config),
	}
	if c.Book != nil {
		s.Label = c.Book.Label
	}
	r, err := participants.Open(s)
	if err != nil {
		return nil, fmt.Errorf("reading the participants: %w", err)
	}
	if journal == nil {
		return r, nil
	}
	changes, err := changesIn(ctx, journal(earshot.Audience{Room: earshot.Desk}))
	if err != nil {
		return nil, fmt.Errorf("reading the participants: %w", err)
	}
	for _, a := range slices.Backward(changes) {
		r.Apply(a)
	}
	return r, nil
}

// changesIn returns the changes of the registry, the newest first, without those of people who
// have lapsed since.
func changesIn(ctx context.Context, journal *store.Reader) (changes []earshot.Actor, err error) {
	lapsed := make(map[earshot.ParticipantID]bool)
	before := int64(0)
	for range mostPages {
		page, err := journal.Page(ctx, []earshot.Kind{earshot.KindActor}, before, changesAtOnce)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(page) {
			a, ok := e.Body.(earshot.Actor)
			switch {
			case ok && a.Act == earshot.Lapsed:
				lapsed[a.Participant] = true
			case ok && a.Act == earshot.Created && lapsed[a.Participant]:
				delete(lapsed, a.Participant) // somebody who arrives anew has the same ID
			case ok && !lapsed[a.Participant]:
				changes = append(changes, a)
			}
		}
		if len(page) < changesAtOnce || len(changes) >= mostChanges {
			break
		}
		before = page[0].Sequence
	}
	return changes, nil
}

// hasToken returns a function that reports whether somebody has a token. If that cannot be found
// out, everybody may have one.
func hasToken(cfg *config.Config) func(earshot.ParticipantID) bool {
	tokens := token.In(cfg.Store.Directory)
	return func(id earshot.ParticipantID) bool {
		all, err := tokens.List()
		return err != nil || slices.ContainsFunc(all, func(t token.Token) bool { return t.Participant == id })
	}
}

// operators are the Discord handles that may operate the daemon.
func (c RegistryBuilder) operators() (all []earshot.Handle) {
	for _, id := range c.Providers.Discord.Operators {
		all = append(all, earshot.Handle{Provider: Discord, ID: id})
	}
	return all
}

// BuildFrom returns the registry from a journal that another process writes.
func (c RegistryBuilder) BuildFrom(ctx context.Context, archive *store.Archive) (r *participants.Registry, err error) {
	if c.Book, err = agents.Read(ctx, archive); err != nil {
		return nil, err
	}
	return c.Build(ctx, archive.For)
}

// agents are the internal agents: those of the directory, or else of the configuration.
func (c RegistryBuilder) agents() []participants.Participant {
	if c.Book != nil {
		return c.Book.Participants()
	}
	all := []participants.Participant{{ID: participants.Agent, Name: participants.OneLine(c.Executive.Name), Type: participants.Internal}}
	for _, e := range c.Agents {
		all = append(all, participants.Participant{ID: earshot.ParticipantID("agent/" + e.Name), Name: e.Name, Username: e.Username, Type: participants.Internal, Description: e.Description})
	}
	return all
}

// OpenAgents returns the directory of the agents of cfg, which is stored in s. Of several daemons
// the one that has the desk brings it in step with cfg.
func OpenAgents(ctx context.Context, cfg *config.Config, s *store.Store, newID func() earshot.EventID) (*agents.Directory, error) {
	set := AgentSetup(cfg, cfg.Cluster.Name == "")
	set.Journal, set.Now, set.NewID = s, time.Now, newID
	return agents.Open(ctx, set)
}

// AgentSetup returns the settings of cfg for agents; home says that this daemon makes those of cfg.
func AgentSetup(cfg *config.Config, home bool) agents.Setup {
	set := agents.Setup{Follows: !home, Main: MainAgent(cfg), Config: cfg.Agents, Actors: cfg.ExternalActors, Engines: cfg.Executive.LLM.Names()}
	for _, r := range cfg.Rooms.All() {
		set.Rooms = append(set.Rooms, r.ID)
	}
	return set
}

// MainAgent returns the settings of the section executive for the main agent.
func MainAgent(cfg *config.Config) earshot.Profile {
	return earshot.Profile{
		Name: participants.OneLine(cfg.Executive.Name), Prompt: earshot.Text(cfg.Executive.Conversational.SystemPrompt), AutoReply: true,
	}
}
