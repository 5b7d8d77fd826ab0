package main

import (
	"testing"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/participants"
	"earshot/server"
)

// TestAMergerOpensNoRoom: by a handle that came by a merger one enters the rooms
// that one entered before, and no others.
func TestAMergerOpensNoRoom(t *testing.T) {
	account, other := earshot.Handle{Provider: "console", ID: "uid1000"}, earshot.Handle{Provider: "console", ID: "uid0"}
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.ExternalActors.Actors = []participants.Actor{
		{ID: "carol", DisplayName: "Carol", RequiresAuth: true},
		{ID: "bob", DisplayName: "Bob", Handles: []string{other.String()}},
	}
	cfg.Rooms = executive.Rooms{
		{ID: "den", Actors: []earshot.ParticipantID{"carol"}}, {ID: "shed", Actors: []earshot.ParticipantID{"bob"}},
	}
	people, err := participants.Open(participants.Setup{Account: account, AccountName: "ann", Actors: cfg.ExternalActors})
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(cfg, people)
	enters := func(room earshot.RoomID) bool {
		_, _, err := g.pass(t.Context(), other, server.Claim{Room: room})
		return err == nil
	}
	for _, when := range []string{"before", "merged"} {
		if enters("den") || !enters("shed") || !enters("") {
			t.Errorf("%s: Bob enters the den: %v, the shed: %v, the desk: %v", when, enters("den"), enters("shed"), enters(""))
		}
		if when == "before" {
			if err := people.Merge(t.Context(), people.Resolve(account), "carol", "bob"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
