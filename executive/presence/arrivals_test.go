package presence_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/executive/presence"
	"earshot/participants"
)

// TestArrivals: somebody is announced when their first session begins and their last one ends; nobody
// unknown is; who comes and goes all the time is announced when they have settled.
func TestArrivals(t *testing.T) {
	now := at(0)
	a := presence.Arrivals{Room: "kitchen", People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "ann", "Earshot"), Now: func() time.Time { return now }}
	noted := 0
	var said []string
	session := func(who earshot.ParticipantID, session string, here bool) (later bool) {
		said = nil
		return a.Note(earshot.Handle{Provider: "console", ID: string(who)}, participants.Participant{ID: who}, earshot.Presence{Session: session, Here: here},
			func() { noted++ }, func(p earshot.Presence) { said = append(said, fmt.Sprint(p.Here)) })
	}
	for _, tt := range []struct {
		who     earshot.ParticipantID
		session string
		here    bool
		said    []string
	}{
		{"", "1", true, nil},
		{participants.Generic, "1", true, nil},
		{"ann", "1", true, []string{"true"}},
		{"ann", "2", true, nil}, // a second terminal
		{"ann", "1", false, nil},
		{"ann", "2", false, []string{"false"}},
		{"ann", "2", false, nil},
		{"ann", "3", true, []string{"true"}},
		{"ann", "3", false, []string{"false"}},
	} {
		if later := session(tt.who, tt.session, tt.here); later || !slices.Equal(said, tt.said) {
			t.Errorf("%q by session %s, here %v: announced %v, later %v", tt.who, tt.session, tt.here, said, later)
		}
	}
	if noted != 4 || !a.Next().IsZero() {
		t.Errorf("%d changes, the next announcement at %v", noted, a.Next())
	}
	if !session("ann", "4", true) || len(said) > 0 || noted != 5 {
		t.Errorf("a flapping connection is announced: %v", said)
	}
	now = a.Next()
	for _, fails := range []error{errors.New("closed"), nil} {
		told := 0
		a.Settle(func(n participants.Announcement) error { told++; return fails })
		if want := map[bool]int{true: 1}[fails != nil]; told != want {
			t.Errorf("%d are announced, want %d", told, want)
		}
	}
}
