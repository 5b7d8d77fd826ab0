package access

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/participants"
	"earshot/server"

	"github.com/oklog/ulid/v2"
)

// TestAMergerOpensNoRoom: somebody who was merged into another person can enter, from their old
// handle, only the rooms that they could enter before.
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
	g := NewGate(cfg, people)
	enters := func(room earshot.RoomID) bool {
		_, _, err := g.Identify(t.Context(), other, server.Claim{Room: room})
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

// TestNobodyIsMadeAtAClosedDoor: somebody who gives a new name in a room that they may not enter is
// not let in, and does not become known either.
func TestNobodyIsMadeAtAClosedDoor(t *testing.T) {
	account := earshot.Handle{Provider: "console", ID: "uid1000"}
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.Rooms = executive.Rooms{{ID: "den", Actors: []earshot.ParticipantID{"carol"}}}
	people, err := participants.Open(participants.Setup{
		Account: account, AccountName: "ann", Actors: cfg.ExternalActors, Now: time.Now, NewID: func() earshot.EventID { return earshot.EventID(ulid.Make().String()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(cfg, people)
	for _, room := range []earshot.RoomID{"den", "nowhere"} {
		if _, _, err := g.Identify(t.Context(), account, server.Claim{Name: "Zed", Room: room, New: true}); err == nil {
			t.Errorf("Zed enters %s", room)
		}
	}
	if _, known := people.Find("Zed"); known {
		t.Error("Zed is known")
	}
	if _, _, err := g.Identify(t.Context(), account, server.Claim{Name: "Zed"}); !errors.Is(err, participants.ErrUnknown) {
		t.Errorf("who only looks comes in as Zed: %v", err)
	}
	if _, known := people.Find("Zed"); known {
		t.Error("Zed is known by looking")
	}
	if _, _, err := g.Identify(t.Context(), account, server.Claim{Name: "Zed", New: true}); err != nil {
		t.Errorf("at the desk: %v", err)
	}
}

// TestADamagedFileOfTokens: if the file of tokens is damaged, the error does not advise another
// token, which would not help.
func TestADamagedFileOfTokens(t *testing.T) {
	account := earshot.Handle{Provider: "console", ID: "uid1000"}
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.ExternalActors.Actors = []participants.Actor{{ID: "eve", RequiresAuth: true}}
	people, err := participants.Open(participants.Setup{Account: account, AccountName: "ann", Actors: cfg.ExternalActors})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(cfg, people)
	for _, tt := range []struct{ file, cure string }{
		{"", "earshot token create"},
		{"{", "move "},
	} {
		if tt.file != "" {
			if err := os.WriteFile(g.Tokens.Path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := g.Identify(t.Context(), account, server.Claim{Name: "eve", Token: "earshot_x"})
		if _, cure := earshot.Explain(err); !errors.Is(err, participants.ErrToken) || !strings.Contains(cure, tt.cure) {
			t.Errorf("with %q in the file: %v, and %q mends it", tt.file, err, cure)
		}
	}
}
