package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/executive"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/client"
)

// TestHouseAnswers: the daemon answers every request of the API. The compiler checks the types.
func TestHouseAnswers(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := Open(t.Context(), cfg, Options{Version: "0.1.0", Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h := backend{d}
	who := server.Principal{Participant: d.owner, Audience: d.Audience()}
	note := func(route string, err error) {
		if err != nil {
			t.Errorf("%s: %v", route, err)
		}
	}
	_, err = h.State(t.Context(), who)
	note("GET /v1/state", err)
	_, _, err = h.Live(t.Context(), who)
	note("GET /v1/live", err)
	_, err = h.Context(t.Context(), who)
	note("GET /v1/context", err)
	_, err = h.Agents(t.Context(), false)
	note("GET /v1/agents", err)
	name := "Coder"
	_, err = h.Order(t.Context(), d.owner, agents.Order{Act: earshot.Created, Edit: agents.Edit{Name: &name}})
	note("POST /v1/agents", err)
	_, err = h.Voices(t.Context())
	note("GET /v1/voices", err)
	_, err = h.Forget(t.Context(), who, api.EraseRequest{Who: "me"})
	note("POST /v1/forget", err)
	_, err = h.Look(t.Context(), who, api.LookRequest{})
	note("POST /v1/look", err)
	is, err := h.Diagnose(t.Context(), api.DiagnosisRequest{})
	note("GET /v1/diagnostics", err)
	if !is.Runs || is.Ready == nil || is.Version == "" {
		t.Errorf("the diagnosis is %+v", is)
	}
	d.options.Load = func() (*config.Config, error) { return cfg, nil }
	_, err = h.Reload(t.Context())
	note("POST /v1/reload", err)
}

// TestVouch: a token lets in its owner, even if the daemon knows them from nowhere else. It lets in
// nobody else, whatever name they give, even if the console knows them.
func TestVouch(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	cfg.ExternalActors.AllowDynamicCreation, cfg.ExternalActors.AllowAnonymous = true, true
	cfg.ExternalActors.Actors = []participants.Actor{
		{ID: "bob", DisplayName: "Bob", Type: "human"},
		{ID: "eve", DisplayName: "Eve", Type: "human", RequiresAuth: true},
		{ID: "zoe", DisplayName: "Zoe", Type: "human", Handles: []string{"token:eve"}}, // "token" is no provider
	}
	cfg.Rooms = executive.Rooms{{ID: "den", Actors: []earshot.ParticipantID{"eve"}}}
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h := backend{d}
	tokens := make(map[string]server.Claim)
	for _, id := range []earshot.ParticipantID{d.owner.ID, "bob", "eve", "gone", participants.Agent, participants.Generic} {
		_, secret, err := d.gate.Tokens.Create(id, "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		tokens[string(id)] = server.Claim{Token: secret}
	}
	before := len(d.people.Known())
	for _, tt := range []struct {
		of, name string
		room     earshot.RoomID
		is       earshot.ParticipantID
	}{
		{of: string(d.owner.ID), is: d.owner.ID},
		{of: string(d.owner.ID), name: d.owner.Name, is: d.owner.ID},
		{of: "bob", is: "bob"},
		{of: "bob", name: "BOB", is: "bob"},
		{of: "eve", is: "eve"},
		{of: "eve", room: "den", is: "eve"},
		{of: "bob", room: "den"},
		{of: "bob", room: "nowhere"},
		{of: "bob", name: d.owner.Name},
		{of: "bob", name: "Eve"},
		{of: "eve", name: "Bob"},
		{of: "eve", name: "Zoe"},
		{of: "bob", name: "Nobody Yet"},
		{of: "bob", name: "anonymous"},
		{of: "gone"},
		{of: string(participants.Agent)},
	} {
		c := tokens[tt.of]
		c.Name, c.Room = tt.name, tt.room
		p, err := h.Identify(t.Context(), earshot.Handle{}, c)
		account := p.Account
		if (err == nil) != (tt.is != "") || p.ID != tt.is {
			t.Errorf("%+v: let in %q, %v", tt, p.ID, err)
		}
		if err != nil {
			continue
		}
		if p.Can(participants.Operate) != (tt.is == d.owner.ID) || account.Provider == "console" {
			t.Errorf("%+v: %+v by %v", tt, p, account)
		}
		session := participants.Session{ID: "s", Participant: p.ID, Account: account, Room: p.Audience.Room}
		handle, leave := h.Join(session, nil, p.Audience)
		if was := d.people.Resolve(handle()); was.ID != tt.is || was.Can(participants.Operate) != (tt.is == d.owner.ID) {
			t.Errorf("%+v: what they say is said by %+v", tt, was)
		}
		leave()
	}
	for _, c := range []server.Claim{{}, {Name: "Bob"}, {Token: "earshot_no"}} {
		if p, err := h.Identify(t.Context(), earshot.Handle{}, c); err == nil {
			t.Errorf("%+v let in %+v", c, p)
		}
	}
	if len(d.people.Known()) != before {
		t.Errorf("there are %v", d.people.Known())
	}
}

// TestPortIsSwitched: if the API is to listen at another port, or at none, it does so at once, and
// disconnects clients of the old port. Clients of an unchanged port stay.
func TestPortIsSwitched(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, secret, err := d.gate.Tokens.Create(d.owner.ID, "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.port.Run(ctx) }()
	set := cfg.Server
	set.Listen = "127.0.0.1:0"
	d.port.Set(set)
	testkit.Await(t, soon, "a port", func() bool { return d.port.URL() != "" })
	first := d.port.URL()
	c := &client.Client{URL: first, Token: secret}
	if s, err := c.State(t.Context()); err != nil || s.API != first || s.You.ID != d.owner.ID {
		t.Errorf("the state is %+v, %v", s, err)
	}
	gone := make(chan error, 1)
	go func() {
		for _, err := range c.Events(t.Context(), 0) {
			if err != nil {
				gone <- err
			}
		}
	}()
	d.port.Set(set)
	if d.port.URL() != first {
		t.Error("it was closed although nothing changed")
	}
	set.RequestsPerSecond = 7
	d.port.Set(set)
	if err := testkit.Receive(t, testkit.Patience, "the end of what follows the events", gone); err == nil {
		t.Error("who followed what happens was not told that the port is closed")
	}
	testkit.Await(t, soon, "another port", func() bool { at := d.port.URL(); return at != "" && at != first })
	if _, err := c.State(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("the old one says %v", err)
	}
	c.URL = d.port.URL()
	if _, err := c.State(t.Context()); err != nil {
		t.Error(err)
	}
	set.Listen = ""
	d.port.Set(set)
	testkit.Await(t, soon, "no port", func() bool { return d.port.URL() == "" })
	if _, err := c.State(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("nobody listens, and yet %v", err)
	}
	cancel()
	if err := testkit.Receive(t, testkit.Patience, "the end of the port", done); err != nil {
		t.Error(err)
	}
}
