package main

import (
	"context"
	"errors"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/admin"
	"earshot/internal/field"
	"earshot/internal/login"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/client"
	"earshot/store"
)

// dormant is the state of every agent while earshot does not run.
func dormant(earshot.ParticipantID) string { return api.Sleeping }

// An agentAdmin is where the command reaches the agents: through the earshot that
// runs or, where none does, in the journal itself.
type agentAdmin interface {
	Agents(ctx context.Context, all bool) ([]api.AgentInfo, error)
	Order(ctx context.Context, o agents.Order) (api.AgentInfo, error)
}

// localAdmin looks after the agents of a journal that no earshot holds.
type localAdmin struct {
	book   *agents.Directory
	who    participants.Participant
	people *participants.Registry
}

// Agents implements [agentAdmin].
func (h localAdmin) Agents(ctx context.Context, all bool) ([]api.AgentInfo, error) {
	return admin.ListAgents(ctx, h.book, all, dormant)
}

// Order implements [agentAdmin].
func (h localAdmin) Order(ctx context.Context, o agents.Order) (api.AgentInfo, error) {
	was, is, err := h.book.Execute(ctx, h.who, o)
	if o.Act == earshot.Ended {
		return admin.AgentInfo(was, was.Name, admin.Ended), err
	}
	return admin.AgentInfo(is, is.Name, api.Sleeping), err
}

// consult lets use look at the agents, as somebody who may.
func (a *app) consult(i identityFlags, use func(agentAdmin) error) error {
	return a.either(i, func(c *client.Client) error { return use(c) }, func(cfg *config.Config) error {
		archive, err := a.archive(cfg)
		if err != nil {
			return err
		}
		defer archive.Close()
		book, err := agents.Read(a.ctx, archive)
		if err != nil {
			return err
		}
		h, err := a.desk(cfg, i, book, archive.For)
		if err != nil {
			return err
		}
		return use(h)
	})
}

// direct lets use change the agents, as somebody who may.
func (a *app) direct(i identityFlags, use func(agentAdmin) error) error {
	return a.either(i, func(c *client.Client) error { return use(c) }, func(cfg *config.Config) error {
		return a.write(func(s *store.Store) error {
			book, err := access.OpenAgents(a.ctx, cfg, s, store.NewIDs())
			if err != nil {
				return err
			}
			h, err := a.desk(cfg, i, book, s.For)
			if err != nil {
				return err
			}
			return use(h)
		})
	})
}

// desk looks after the agents of a directory that no earshot holds, for who may.
func (a *app) desk(cfg *config.Config, i identityFlags, book *agents.Directory, journal func(earshot.Audience) *store.Reader) (localAdmin, error) {
	h := localAdmin{book: book}
	account, user := access.Self()
	people, err := access.RegistryBuilder{Config: cfg, Account: account, Name: user, NewID: store.NewIDs(), Book: book}.Build(a.ctx, journal)
	if err != nil {
		return h, err
	}
	h.people = people
	own := people.Resolve(account).ID
	book.Join(people, own)
	p := login.Prompt{Known: people.Known(), Own: own}
	p.Claim = func(ctx context.Context, name string, secret field.Secret) (err error) {
		h.who, err = access.NewGate(cfg, people).Authenticate(ctx, account, server.Claim{Name: name, Token: secret})
		return err
	}
	if _, _, err := a.enterAs("")(a.ctx, i, p); err != nil {
		return h, err
	}
	if !h.who.Can(participants.Operate) {
		return h, errors.New("only an operator of this earshot may do that\n  → ask one, or come in as one: --identity NAME")
	}
	return h, nil
}
