package scenetest

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/memory/memorytest"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
)

// memory gives the agents a memory, and returns what fills it; nil if the script has no rule for that.
func (s *Scene) memory(j *testkit.Journal, m llm.Service, people *participants.Registry, cfg *room.Config) *memory.Consolidator {
	if s.Model == nil || !slices.ContainsFunc(s.Model.Rules, func(r llmtest.Rule) bool { return r.For == llmtest.ForMemory }) {
		return nil
	}
	cfg.Memory = memory.NewIndex()
	past := memorytest.Journal{Journal: j}
	return &memory.Consolidator{
		Index: cfg.Memory, Unread: past.Unread, Find: past.Find, Model: m, Settings: func() executive.Config { return s.Config }, Rests: func() bool { return false },
		Agents: func(earshot.RoomID) []agents.Record { return []agents.Record{{ID: participants.Agent}} },
		Reader: func(_ context.Context, a agents.Record) earshot.ParticipantID { return a.ID },
		Name:   people.Name, IsPerson: func(id earshot.ParticipantID) bool {
			p, _ := people.Get(id)
			return p.Type != participants.Internal
		},
		NewID: cfg.NewID, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}
