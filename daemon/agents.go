package daemon

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/participants"
	"earshot/participants/agents"
)

// Agents implements [server.Admin].
func (h backend) Agents(ctx context.Context, all bool) ([]api.AgentInfo, error) {
	return admin.ListAgents(ctx, h.daemon.agents, all, h.daemon.states())
}

// Order implements [server.Admin].
func (h backend) Order(ctx context.Context, by participants.Participant, o agents.Order) (api.AgentInfo, error) {
	r, err := h.daemon.order(ctx, by, o)
	if err != nil {
		return api.AgentInfo{}, err
	}
	state := admin.Ended
	if o.Act != earshot.Ended {
		state = h.daemon.states()(r.ID)
	}
	return admin.AgentInfo(r, h.daemon.agents.Label(r.ID), state), nil
}

// states returns a function that tells whether an agent is active in any room.
func (d *Daemon) states() func(earshot.ParticipantID) string {
	active := make(map[earshot.ParticipantID]bool)
	for _, r := range d.rooms.now() {
		for _, s := range r.State(earshot.Audience{}).Agents {
			active[s.ID] = active[s.ID] || s.State == api.Active
		}
	}
	return func(id earshot.ParticipantID) string {
		if active[id] {
			return api.Active
		}
		return api.Sleeping
	}
}

// order carries out an order, informs the rooms at once, and shows it in those that it concerns.
// It returns the agent as it is now or, if it has ended, as it was.
func (d *Daemon) order(ctx context.Context, by participants.Participant, o agents.Order) (agents.Record, error) {
	was, is, err := d.agents.Execute(ctx, by, o)
	if err != nil {
		return is, err
	}
	r := is
	if o.Act == earshot.Ended {
		r = was
	}
	d.announce(by.ID, o.Act, r, was, is)
	return r, nil
}

// announce shows what somebody did to the agent r in the rooms where one of some agents sits.
func (d *Daemon) announce(by earshot.ParticipantID, act earshot.Act, r agents.Record, in ...agents.Record) {
	e := earshot.Event{
		At: time.Now(), Author: by, Visibility: earshot.Visibility{Scope: earshot.System},
		Body: earshot.Agent{Act: act, ID: r.ID, Path: r.Path, User: r.User, PathKind: string(r.Kind)},
	}
	for _, there := range d.rooms.now() {
		if slices.ContainsFunc(in, func(a agents.Record) bool { return a.SitsIn(there.is.ID) }) {
			there.Announce(e)
		}
	}
}
