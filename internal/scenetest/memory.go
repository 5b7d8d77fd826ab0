package scenetest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
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
	return &memory.Consolidator{
		Index: cfg.Memory, Unread: Past{j}.Unread, Find: Past{j}.Find, Model: m, Settings: func() executive.Config { return s.Config }, Rests: func() bool { return false },
		Agents: func(earshot.RoomID) []agents.Record { return []agents.Record{{ID: participants.Agent}} },
		Reader: func(_ context.Context, a agents.Record) earshot.ParticipantID { return a.ID },
		Name:   people.Name, IsPerson: func(id earshot.ParticipantID) bool {
			p, _ := people.Get(id)
			return p.Type != participants.Internal
		},
		NewID: cfg.NewID, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// A Past is a journal as memory reads it, of one room.
type Past struct{ *testkit.Journal }

// Unread does what [memory.Unread] does.
func (p Past) Unread(_ context.Context, _ earshot.RoomID, _ time.Time, n int) ([][]earshot.EventID, error) {
	read := make(map[earshot.EventID]bool)
	for _, e := range p.Events() {
		if e.Body.Kind() == earshot.KindSummary {
			for _, id := range e.Sources {
				read[id] = true
			}
		}
	}
	circles := make(map[string][]earshot.EventID)
	for _, e := range p.Events() {
		if c := fmt.Sprintf("%#v", e.Visibility); memory.Words(e) != "" && !read[e.ID] && len(circles[c]) < n {
			circles[c] = append(circles[c], e.ID)
		}
	}
	return slices.SortedFunc(maps.Values(circles), slices.Compare), nil
}

// Find returns those of some events that everybody in an audience may see.
func (p Past) Find(_ context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error) {
	return slices.DeleteFunc(p.Events(), func(e earshot.Event) bool { return !slices.Contains(ids, e.ID) || !e.Visibility.Allows(a) }), nil
}
