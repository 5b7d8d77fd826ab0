package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
)

// TestAReminderIsNotForgotten: however much was said since it was set, a room goes
// on from what is still to be said, in private too.
func TestAReminderIsNotForgotten(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := newDaemon(t.Context(), cfg, quietly, earshot.Handle{Provider: "console", ID: "1"}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Agent, d.owner.ID}}
	event := func(id string, v earshot.Visibility, body earshot.Body) earshot.Event {
		return earshot.Event{
			ID: earshot.EventID(id), At: time.Now(), Room: earshot.Desk, Author: participants.Agent, To: []earshot.ParticipantID{d.owner.ID}, Visibility: v, Body: body,
		}
	}
	due := time.Now().Add(time.Hour)
	all := []earshot.Event{
		event("open", earshot.Visibility{Scope: earshot.Public}, earshot.Reminder{Act: earshot.Created, Due: due, Text: "tea"}),
		event("secret", private, earshot.Reminder{Act: earshot.Created, Due: due, Text: "the ring"}),
	}
	for range 2 * recall {
		all = append(all, event(string(d.id()), earshot.Visibility{Scope: earshot.Public}, earshot.Message{Text: "talk"}))
	}
	if _, err := d.store.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	past, err := d.past(t.Context(), earshot.Desk)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []earshot.EventID{"open", "secret"} {
		if !slices.ContainsFunc(past, func(e earshot.Event) bool { return e.ID == id }) {
			t.Errorf("the reminder %s is forgotten", id)
		}
	}
}
