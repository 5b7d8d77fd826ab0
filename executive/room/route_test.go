package room_test

import (
	"fmt"
	"testing"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/participants"
)

// BenchmarkRoute routes one message in a room of a hundred people: who it is
// from, whom it is for, who may see it, and what it is to the floor.
func BenchmarkRoute(b *testing.B) {
	names := make([]string, 99)
	for i := range names {
		names[i] = fmt.Sprintf("guest%c%c", 'a'+i/26, 'a'+i%26)
	}
	h := newHouse()
	h.people = registry(b, names...)
	h.open(b.Context())
	defer h.stop()
	h.people.Come(earshot.Desk, participants.Owner, "ann")
	for _, n := range names {
		h.people.Come(earshot.Desk, earshot.ParticipantID(n), n)
	}
	for _, tt := range []struct {
		name string
		body earshot.Body
	}{
		{"unaddressed", earshot.Message{Text: "the tide comes in at the harbour tomorrow at six in the morning, I was told"}},
		{"vocative", earshot.Message{Text: "Earshot, when does the tide come in at the harbour tomorrow?"}},
		{"mentions", earshot.Message{Text: "@guestab @Earshot when does the tide come in? I asked @guestcc and nobody knew."}},
		{"private", earshot.Command{Name: "msg", Args: "guestab, earshot: when does the tide come in?"}},
	} {
		e := earshot.Event{From: ann, Via: "console", At: time.Now(), Body: tt.body}
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := room.Route(h.Room, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
