package daemon

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
	"earshot/store"
)

// TestRecall: an agent recalls its whole dialogue, however many tools it has used in between and
// whatever people have said to each other.
func TestRecall(t *testing.T) {
	for _, tt := range []struct {
		name string
		body earshot.Body
	}{
		{"tools", earshot.Use{Turn: "t", Tool: "read_file"}},
		{"talk", earshot.Utterance{Text: "mind the step"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "journal")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			d := &Daemon{store: s}
			event := func(b earshot.Body) earshot.Event {
				return earshot.Event{Room: earshot.Desk, From: earshot.Handle{Provider: "console", ID: "ann"}, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: b}
			}
			for i := range 25 {
				events := []earshot.Event{event(earshot.Message{Text: earshot.Text(fmt.Sprint("question ", i))})}
				for range 16 {
					events = append(events, event(tt.body))
				}
				events = append(events, event(earshot.Reply{Turn: "t", Outcome: earshot.Completed, Offered: "yes"}))
				if _, err := s.Append(t.Context(), events...); err != nil {
					t.Fatal(err)
				}
			}
			known, err := d.recall(t.Context(), earshot.Desk, "agent")
			if err != nil {
				t.Fatal(err)
			}
			said := 0
			for i, e := range known {
				if k := e.Body.Kind(); k == earshot.KindMessage || k == earshot.KindReply {
					said++
				}
				if i > 0 && known[i-1].Sequence >= e.Sequence {
					t.Error("they are not in order")
				}
			}
			if said != 50 {
				t.Errorf("of 50 messages it knows %d", said)
			}
		})
	}
}

// TestRemindersOfAnAgentThatIsGone: after a restart the room still knows reminders that only an
// agent could see which is gone.
func TestRemindersOfAnAgentThatIsGone(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var want []earshot.EventID
	for _, v := range []earshot.Visibility{
		{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner, "gone"}},
		{Scope: earshot.Public, Agents: []earshot.ParticipantID{"gone"}},
	} {
		e := earshot.Event{
			ID: d.id(), Room: earshot.Desk, Author: "gone", From: earshot.Handle{Provider: "earshot", ID: "reminder"}, Visibility: v,
			To: []earshot.ParticipantID{participants.Owner}, Body: earshot.Reminder{Act: earshot.Created, Due: time.Now().Add(time.Hour), Text: "tea"},
		}
		if _, err := d.store.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e.ID)
	}
	agenda, err := d.agenda(t.Context(), earshot.Desk)
	if err != nil {
		t.Fatal(err)
	}
	var got []earshot.EventID
	for _, r := range agenda.Of(participants.Owner) {
		got = append(got, r.Event.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the room is to remind of %v, want %v", got, want)
	}
}
