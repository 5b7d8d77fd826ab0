package participants_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"earshot"
	"earshot/participants"
)

// TestReform: after a change of the configuration, the known participants are those of the new one
// and of the record. People who are here and in the record stay, as do guests, voices and arrivals.
func TestReform(t *testing.T) {
	config := participants.DefaultConfig()
	config.AllowAnonymous = true
	config.Actors = []participants.Actor{{ID: "bob", Handles: []string{"console:bob"}}, {ID: "eve"}}
	r, l := open(t, config)
	account := earshot.Handle{Provider: "console", ID: "1"}
	carol, err := r.Claim(t.Context(), account, "Carol", nil)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := r.Claim(t.Context(), account, "anonymous", nil)
	if err != nil {
		t.Fatal(err)
	}
	bob := r.Resolve(earshot.Handle{Provider: "console", ID: "bob"})
	three := r.Meet(voice("3"), "voice 3")
	zed := arrive(t, r, "77", "Zed")
	here := func(p participants.Participant, session string) earshot.Handle {
		h := r.Attach(participants.Session{ID: session, Room: "desk", Participant: p.ID, Account: account, Since: time.Now()})
		r.Come("desk", p.ID, session)
		return h
	}
	by := map[string]earshot.Handle{"carol": here(carol, "carol"), "guest": here(guest, "guest"), "eve": here(participants.Participant{ID: "eve"}, "eve")}

	reform := func(c participants.Config) error {
		return r.Reconfigure(t.Context(), func(context.Context) (*participants.Registry, error) { return replayed(t, c, l), nil })
	}
	next := participants.DefaultConfig()
	next.AllowDynamicCreation = false
	next.Actors = []participants.Actor{{ID: "bob", DisplayName: "Robert", Description: "mends things"}, {ID: "fay", DisplayName: "Carol"}}
	if err := reform(next); err != nil {
		t.Fatal(err)
	}
	if p, _ := r.Get("bob"); p.Name != "Robert" || p.Description != "mends things" {
		t.Errorf("Bob is %+v", p)
	}
	if r.Resolve(earshot.Handle{Provider: "console", ID: "bob"}).ID == bob.ID {
		t.Error("Bob is known by a handle that is nobody's any more")
	}
	if p, known := r.Get("eve"); known || r.Resolve(by["eve"]).ID != "" {
		t.Errorf("Eve is known still: %+v", p)
	}
	if p, _ := r.Get(carol.ID); p.Name != "Carol 2" || r.Resolve(by["carol"]).ID != carol.ID {
		t.Errorf("who was called Carol is %+v", p) // the configuration has given that name to somebody else
	}
	if p, _ := r.Find("Carol"); p.ID != "fay" {
		t.Errorf("Carol is %+v", p)
	}
	if r.Resolve(by["guest"]).ID != guest.ID || r.Name(guest.ID) != guest.Name {
		t.Error("the guest is gone")
	}
	if again := r.Meet(voice("3"), "voice 9"); again.ID != three.ID || again.Name != three.Name {
		t.Errorf("the voice is %+v", again)
	}
	if p := r.Resolve(discord("77")); p.ID != zed.ID || p.Name != "Zed" {
		t.Errorf("who arrived is %+v", p)
	}
	if there := r.Here("desk"); len(there) != 2 {
		t.Errorf("here are %+v", there)
	}
	if _, err := r.Claim(t.Context(), account, "Max", nil); err == nil {
		t.Error("somebody new was let in")
	}
	if _, err := r.Claim(t.Context(), account, "anonymous", nil); err == nil {
		t.Error("another guest was let in")
	}

	broken := errors.New("the journal cannot be read")
	if err := r.Reconfigure(t.Context(), func(context.Context) (*participants.Registry, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("it is %v", err)
	}
	if p, _ := r.Get("bob"); p.Name != "Robert" {
		t.Errorf("afterwards Bob is %+v", p)
	}
	if err := reform(config); err != nil {
		t.Fatal(err)
	}
	if p, _ := r.Get(carol.ID); p.Name != "Carol" || r.Resolve(by["eve"]).ID != "eve" || r.Name("bob") != "bob" {
		t.Error("it is not as it was before")
	}
	r.Detach("guest")
	if _, known := r.Get(guest.ID); known {
		t.Error("the guest has left, and is known")
	}
}

// TestForgetAfterReform: Forget gives the owner the name in the current configuration, if that has
// one.
func TestForgetAfterReform(t *testing.T) {
	r, l := open(t, participants.DefaultConfig())
	for _, tt := range []struct{ called, want string }{{"Olga", "Olga"}, {"", "annika"}} {
		config := participants.DefaultConfig()
		if tt.called != "" {
			config.Actors = []participants.Actor{{ID: participants.Owner, DisplayName: tt.called}}
		}
		if err := r.Reconfigure(t.Context(), func(context.Context) (*participants.Registry, error) { return replayed(t, config, l), nil }); err != nil {
			t.Fatal(err)
		}
		r.Forget(participants.Owner)
		if p, _ := r.Get(participants.Owner); p.Name != tt.want {
			t.Errorf("who is called %q by the configuration is called %q", tt.called, p.Name)
		}
	}
}
