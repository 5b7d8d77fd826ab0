package daemon

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/testkit"
	"earshot/participants"
)

// TestAReminderIsNotForgotten: however many reminders were given since one was set, a restarted
// room still has it, even a private one, under the same number.
func TestAReminderIsNotForgotten(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Agent, d.owner.ID}}
	event := func(id earshot.EventID, v earshot.Visibility, body earshot.Body) earshot.Event {
		return earshot.Event{
			ID: id, At: time.Now(), Room: earshot.Desk, Author: participants.Agent, To: []earshot.ParticipantID{d.owner.ID}, Visibility: v, Body: body,
		}
	}
	public, due := earshot.Visibility{Scope: earshot.Public}, time.Now().Add(time.Hour)
	all := []earshot.Event{
		event("gone", public, earshot.Reminder{Act: earshot.Created, Due: due, Text: "milk"}),
		event("open", public, earshot.Reminder{Act: earshot.Created, Due: due, Text: "tea"}),
		event("secret", private, earshot.Reminder{Act: earshot.Created, Due: due, Text: "the ring"}),
		event(d.id(), public, earshot.Reminder{Act: earshot.Ended, Of: "gone"}),
	}
	for range 2500 { // a busy kitchen sets as many timers in a year
		id := d.id()
		all = append(all, event(id, public, earshot.Reminder{Act: earshot.Created, Due: due, Text: "eggs"}), event(d.id(), public, earshot.Reminder{Act: earshot.Fired, Of: id}))
	}
	if _, err := d.store.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	again, err := d.openRooms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	console := &testkit.Voice{Called: "console"}
	again[0].Room.Enter(console, d.Audience())
	err = again[0].Room.Admit(t.Context(), earshot.Event{From: d.options.Account, Via: "console", Body: earshot.Command{Name: "remind"}})
	if err != nil {
		t.Fatal(err)
	}
	listed := string(console.Shown()[0].Body.(earshot.Notice).Text)
	if lines := strings.Split(listed, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "  2 ") || !strings.HasSuffix(lines[0], "tea") || !strings.HasPrefix(lines[1], "  3 ") || !strings.HasSuffix(lines[1], "the ring") {
		t.Errorf("what is still to be said:\n%s", listed)
	}
}
