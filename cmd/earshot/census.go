package main

import (
	"context"
	"fmt"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
	"earshot/store"
)

// mostChanges is how many changes of who exists are looked at: each of them was
// made by somebody by hand.
const mostChanges = 10_000

// A census finds out who exists, the same for the daemon and for a command that
// reads beside it.
type census struct {
	*config.Config
	account earshot.Handle // of the person whose account this is
	name    string         // what the account is called
	record  func(context.Context, earshot.ParticipantID, earshot.Actor) error
	newID   func() earshot.EventID
}

// registry returns who exists: those of the configuration, with what the
// journal, if there is one yet, says has changed since.
func (c census) registry(ctx context.Context, journal func(earshot.Audience) *store.Reader) (*participants.Registry, error) {
	r, err := participants.Open(participants.Setup{
		Account: c.account, AccountName: c.name, Actors: c.ExternalActors, Agents: c.agents(),
		Record: c.record, Now: time.Now, NewID: c.newID,
	})
	if err != nil {
		return nil, fmt.Errorf("finding out who exists: %w", err)
	}
	if journal == nil {
		return r, nil
	}
	changes, err := journal(earshot.Audience{Room: earshot.Desk}).Last(ctx, []earshot.Kind{earshot.KindActor}, mostChanges)
	if err != nil {
		return nil, fmt.Errorf("finding out who exists: %w", err)
	}
	for _, e := range changes {
		if a, ok := e.Body.(earshot.Actor); ok {
			r.Apply(a)
		}
	}
	return r, nil
}

// agents are the internal ones.
func (c census) agents() []participants.Participant {
	return []participants.Participant{{
		ID: participants.Agent, Name: participants.OneLine(c.Executive.Name), Type: participants.Internal,
	}}
}
