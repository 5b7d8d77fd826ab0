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

// How many changes of who exists are looked at, at once and in all: each of them was made by
// somebody by hand, or is that somebody arrived by a provider or is called something else
// there. Whose arrival is older arrives anew. Those of people who have lapsed count for
// nothing, or a flood of names would have others forgotten.
const (
	changesAtOnce = 5_000
	mostChanges   = 20_000
	mostPages     = 400 // a million who have lapsed
)

// A RegistryBuilder finds out who exists, the same for the daemon and for a command that
// reads beside it.
type RegistryBuilder struct {
	*config.Config
	Account earshot.Handle // of the person whose account this is
	Name    string         // what the account is called
	Record  func(context.Context, earshot.ParticipantID, earshot.Actor) error
	NewID   func() earshot.EventID
	Book    *agents.Directory // of the agents; nil where none has been written yet
}

// Build returns who exists: those of the configuration, with what the
// journal, if there is one yet, says has changed since.
func (c RegistryBuilder) Build(ctx context.Context, journal func(earshot.Audience) *store.Reader) (*participants.Registry, error) {
	s := participants.Setup{
		Account: c.Account, AccountName: c.Name, Actors: c.ExternalActors, Agents: c.agents(),
		Record: c.Record, Now: time.Now, NewID: c.NewID, Operators: c.operators(), Keeps: hasToken(c.Config),
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

// changesIn returns the changes of who exists, the newest first, without those of people who
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
				delete(lapsed, a.Participant) // who arrives anew has the same ID
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

// hasToken returns what reports whether somebody has a token. Where that cannot be found out,
// everybody may have one.
func hasToken(cfg *config.Config) func(earshot.ParticipantID) bool {
	tokens := token.In(cfg.Store.Directory)
	return func(id earshot.ParticipantID) bool {
		all, err := tokens.List()
		return err != nil || slices.ContainsFunc(all, func(t token.Token) bool { return t.Participant == id })
	}
}

// operators are the handles on Discord that may operate the daemon.
func (c RegistryBuilder) operators() (all []earshot.Handle) {
	for _, id := range c.Providers.Discord.Operators {
		all = append(all, earshot.Handle{Provider: Discord, ID: id})
	}
	return all
}

// BuildFrom returns who exists as a journal says that somebody else writes.
func (c RegistryBuilder) BuildFrom(ctx context.Context, archive *store.Archive) (r *participants.Registry, err error) {
	if c.Book, err = agents.Read(ctx, archive); err != nil {
		return nil, err
	}
	return c.Build(ctx, archive.For)
}

// agents are the internal ones: those of the book, or else of the configuration.
func (c RegistryBuilder) agents() []participants.Participant {
	if c.Book != nil {
		return c.Book.Participants()
	}
	all := []participants.Participant{{ID: participants.Agent, Name: participants.OneLine(c.Executive.Name), Type: participants.Internal}}
	for _, e := range c.Agents {
		all = append(all, participants.Participant{ID: earshot.ParticipantID("agent/" + e.Name), Name: e.Name, Type: participants.Internal, Description: e.Description})
	}
	return all
}

// OpenAgents returns the book of the agents of cfg, which is written in s.
func OpenAgents(ctx context.Context, cfg *config.Config, s *store.Store, newID func() earshot.EventID) (*agents.Directory, error) {
	set := AgentSetup(cfg)
	set.Journal, set.Now, set.NewID = s, time.Now, newID
	return agents.Open(ctx, set)
}

// AgentSetup is what cfg says of agents.
func AgentSetup(cfg *config.Config) agents.Setup {
	set := agents.Setup{Main: MainAgent(cfg), Config: cfg.Agents, Actors: cfg.ExternalActors, Engines: cfg.Executive.LLM.Names()}
	for _, r := range cfg.Rooms.All() {
		set.Rooms = append(set.Rooms, r.ID)
	}
	return set
}

// MainAgent is what the section executive says of the main agent.
func MainAgent(cfg *config.Config) earshot.Profile {
	return earshot.Profile{
		Name: participants.OneLine(cfg.Executive.Name), Prompt: earshot.Text(cfg.Executive.Conversational.SystemPrompt), AutoReply: true,
	}
}
