// Package seat holds what one agent has in one room: its dialogue there, whether that is in memory,
// and who it is, as its model is told.
package seat

import (
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/dialogue"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Seat is one agent in a room, and what it has heard and said there. It is not safe for concurrent
// use.
type Seat struct {
	agents.Record // the current version

	Awake   bool      // the dialogue is in memory
	Touched time.Time // when it was last called, or spoke

	History      dialogue.History
	ForeignNames int // how many times its model wrote in others' names since it was last told not to

	Askers  []participants.Participant // to whom its model last replied
	Writers []participants.Participant // the authors in the last prompt of its model; also for thoughts, whose prompts begin the same
}

// Sleep frees the dialogue. newest is the newest event.
func (s *Seat) Sleep(newest int64) { s.History.Sleep(newest) }

// EngineAndModel returns the engine and model of the agent: its own, or those of its role.
func (s *Seat) EngineAndModel(set executive.Config) (engine, model string) {
	return set.LLM.For(string(s.Role), s.Engine, s.Model)
}

// HasTools reports whether the agent may use tools, according to its settings.
func (s *Seat) HasTools(set executive.Config) bool {
	engine, _ := s.EngineAndModel(set)
	return set.Tools.Enabled && set.LLM.ToolUse(engine) != llm.NoTools
}

// Identity tells the model of the agent who it is, and who is there.
func (s *Seat) Identity(set executive.Config, roster *participants.Roster) string {
	sections := conversation.SectionsWithoutTools
	if s.HasTools(set) {
		sections = conversation.Sections
	}
	return conversation.Identity(s.Name, s.Description) +
		"If you were cut off, your own message ends with the last word that was heard.\n" +
		sections(roster, s.ID)
}

// Manner tells the model of the agent how to talk, in its owner's words or the built-in ones. Those
// of the main agent are in the configuration.
func (s *Seat) Manner(set executive.Config) string {
	if s.ID == participants.Agent {
		return strings.TrimSpace(set.Conversational.SystemPrompt)
	}
	return strings.TrimSpace(string(s.Instructions()))
}

// Find returns the seat of an agent among some, or nil if it has none.
func Find(seats []*Seat, agent earshot.ParticipantID) *Seat {
	for _, s := range seats {
		if s.ID == agent {
			return s
		}
	}
	return nil
}
