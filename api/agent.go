package api

import "earshot"

// An AgentInfo describes an agent. What is to be done to one is an [agents.Order].
//
// [agents.Order]: https://pkg.go.dev/earshot/participants/agents#Order
type AgentInfo struct {
	ID    earshot.ParticipantID `json:"id"`
	Path  earshot.Path          `json:"path"`
	Kind  earshot.PathKind      `json:"kind"`
	Role  earshot.Role          `json:"role,omitempty"`
	User  earshot.ParticipantID `json:"user,omitempty"` // whose it is
	State string                `json:"state"`          // active, sleeping or ended

	// Today is what it has cost today; nil if nothing, or if no daemon runs.
	Today *UsageAmount `json:"today,omitempty"`

	// Configured says that the configuration says what it is.
	Configured bool `json:"configured,omitempty"`

	earshot.Profile // with a name in any case
}
