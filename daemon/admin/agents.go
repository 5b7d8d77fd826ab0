// Package admin has what operators of earshot manage, and puts it into words: its agents, the owners
// of the voices that it hears, and what its cameras see.
package admin

import (
	"cmp"
	"context"
	"slices"

	"earshot"
	"earshot/api"
	"earshot/participants/agents"
)

// Ended is the state of an ended agent; see also [api.Active].
const Ended = "ended"

const (
	// mostGone is how many ended agents are listed: those that somebody may still remember.
	mostGone = 200

	// mostBelow is how many agents made by others for a task are listed: more than people look
	// through.
	mostBelow = 200
)

// AgentInfo returns the description of an agent.
func AgentInfo(r agents.Record, called, state string) api.AgentInfo {
	p := api.AgentInfo{ID: r.ID, Path: r.Path, Kind: r.Kind, Role: r.Role, User: r.User, State: state, Configured: r.Configured, Profile: r.Profile}
	p.Name = cmp.Or(p.Name, called)
	return p
}

// ListAgents returns all agents of a directory, by path, and if all is set the ended ones too.
// State returns the state of a living agent.
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
