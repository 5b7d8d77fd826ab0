package room

import (
	"log/slog"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/participants"
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
