// Package admin has what operators of earshot look after: its agents, and whose the voices are that
// it hears.
package admin

import (
	"cmp"
	"context"
	"slices"

	"earshot"
	"earshot/api"
	"earshot/participants/agents"
)

// Ended is the state of an agent that is no more; see also [api.Active].
const Ended = "ended"

const (
	// mostGone is how many agents that have ended are listed: those that somebody
	// may still remember.
	mostGone = 200

	// mostBelow is how many are listed that others have made for a task, which is
	// more than people look through.
	mostBelow = 200
)

// AgentInfo returns the portrait of an agent.
func AgentInfo(r agents.Record, called, state string) api.AgentInfo {
	p := api.AgentInfo{ID: r.ID, Path: r.Path, Kind: r.Kind, Role: r.Role, User: r.User, State: state, Configured: r.Configured, Profile: r.Profile}
	p.Name = cmp.Or(p.Name, called)
	return p
}

// ListAgents returns those of all agents in a book, by path, and if all is set of
// those that have ended, too. State returns that of one that lives.
func ListAgents(ctx context.Context, b *agents.Directory, all bool, state func(earshot.ParticipantID) string) ([]api.AgentInfo, error) {
	list, below := []api.AgentInfo{}, 0
	for _, r := range b.List() {
		if r.Kind.Below() {
			below++
		}
		if below <= mostBelow || !r.Kind.Below() {
			list = append(list, AgentInfo(r, b.Label(r.ID), state(r.ID)))
		}
	}
	if !all {
		return list, nil
	}
	dead, err := b.Gone(ctx, mostGone)
	for _, r := range slices.Backward(dead) {
		list = append(list, AgentInfo(r, b.Label(r.ID), Ended))
	}
	return list, err
}
