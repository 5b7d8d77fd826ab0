package room

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestSettingsFromTheStart: what a room does before anything has come, such as asking again what was
// asked before a restart, sees its configuration.
func TestSettingsFromTheStart(t *testing.T) {
	set := executive.DefaultConfig()
	set.MultiParty.Enabled = true
	r := New(Config{
		ID: earshot.Desk, Settings: func() executive.Config { return set }, Now: time.Now, NewID: func() earshot.EventID { return "e" },
		People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "ann", "Earshot"), Log: slog.New(slog.DiscardHandler),
	})
	bob := participants.Participant{ID: "bob"}
	again := r.resolver.ResolveAgain(t.Context(), &r.set, earshot.Event{From: earshot.Handle{ID: "bob"}, Author: bob.ID, Body: earshot.Message{Text: "hello"}}, bob)
	if !again.Heeded || !r.set.Enabled {
		t.Error("the room begins without its settings")
	}
}

// TestPostedAgain: what was posted to an address and is asked again is for the same agents, whatever
// names are in its text.
func TestPostedAgain(t *testing.T) {
	set := executive.DefaultConfig()
	r := New(Config{
		ID: earshot.Desk, Settings: func() executive.Config { return set }, Now: time.Now, NewID: func() earshot.EventID { return "e" },
		People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "ann", "Earshot"), Log: slog.New(slog.DiscardHandler),
		Agents: func() []agents.Record {
			return []agents.Record{{ID: "agent", Profile: earshot.Profile{Name: "Earshot"}}, {ID: "scout", Profile: earshot.Profile{Name: "Scout"}}}
		},
	})
	e := earshot.Event{From: earshot.Handle{ID: "ann"}, To: []earshot.ParticipantID{"scout", "ranger"}, Body: earshot.Message{Text: "@Earshot hello", Posted: true}}
	again := r.resolver.ResolveAgain(t.Context(), &r.set, e, participants.Participant{ID: "ann"})
	if got := again.Addressees.Agents; !again.Addressees.Mine || !slices.Equal(got, []earshot.ParticipantID{"scout"}) {
		t.Errorf("it is for %v", got)
	}
}
