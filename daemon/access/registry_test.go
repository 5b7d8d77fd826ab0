package access

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
	"earshot/store"

	"github.com/oklog/ulid/v2"
)

// TestAFloodOfNamesIsReadPast: after a restart people are still known who were recorded before
// thousands of names that have lapsed, and so is somebody who lapsed and arrived anew.
func TestAFloodOfNamesIsReadPast(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "journal")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	newID := func() earshot.EventID { return earshot.EventID(ulid.Make().String()) }
	record := func(changes ...earshot.Actor) {
		t.Helper()
		var events []earshot.Event
		for _, a := range changes {
			events = append(events, earshot.Event{
				ID: newID(), At: time.Now(), Room: earshot.Desk, Visibility: earshot.Visibility{Scope: earshot.System}, Body: a,
			})
		}
		if _, err := s.Append(t.Context(), events...); err != nil {
			t.Fatal(err)
		}
	}
	created := func(id, name string) earshot.Actor {
		return earshot.Actor{Act: earshot.Created, Participant: earshot.ParticipantID(id), Name: name, Type: "human", Once: true}
	}
	lapsed := func(id string) earshot.Actor {
		return earshot.Actor{Act: earshot.Lapsed, Participant: earshot.ParticipantID(id)}
	}
	record(created("p_0", "Dora"), created("discord-1", "Old"), lapsed("discord-1"), created("discord-1", "Emil"))
	for i := 0; i < mostChanges; i += 100 {
		var flood []earshot.Actor
		for n := i; n < i+100; n++ {
			flood = append(flood, created(fmt.Sprint("p_", n+1), fmt.Sprint("Q", n)), lapsed(fmt.Sprint("p_", n+1)))
		}
		record(flood...)
	}
	cfg := config.Default()
	r, err := RegistryBuilder{Config: cfg, Account: earshot.Handle{Provider: "console", ID: "uid1"}, Name: "ann", NewID: newID}.Build(t.Context(), s.For)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]earshot.ParticipantID{"Dora": "p_0", "Emil": "discord-1", "Old": "", "Q7": ""} {
		if p, _ := r.Find(name); p.ID != want {
			t.Errorf("%s is %+v, want %q", name, p, want)
		}
	}
	if n := len(r.Everybody()); n > 10 {
		t.Errorf("%d people are known", n)
	}
	if r.Name(participants.Owner) != "ann" {
		t.Errorf("the owner is called %s", r.Name(participants.Owner))
	}
}
