package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"earshot"
	"earshot/store"
)

// TestRecall: an agent goes on from the whole of its dialogue, however many tools it
// has used in between, and whatever people have said to each other.
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
			d := &daemon{store: s}
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
