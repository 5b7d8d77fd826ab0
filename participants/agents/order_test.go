package agents_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// edit returns an edit from "key=value" strings.
func edit(t *testing.T, changes ...string) (e agents.Edit) {
	t.Helper()
	for _, c := range changes {
		key, value, _ := strings.Cut(c, "=")
		if err := e.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// TestOrders: an order that names an agent by name or by path is carried out, once and permanently.
func TestOrders(t *testing.T) {
	h := newHouse(t)
	carry := func(o agents.Order) (agents.Record, agents.Record) {
		t.Helper()
		was, is, err := h.book.Execute(t.Context(), owner, o)
		if err != nil {
			t.Fatal(err)
		}
		return was, is
	}
	_, made := carry(agents.Order{Act: earshot.Created, Edit: edit(t, "name=Coder", "description= writes programs ", "rooms=kitchen, den", "engine=local")})
	want := earshot.Profile{Name: "Coder", Description: "writes programs", Engine: "local", Rooms: []earshot.RoomID{"kitchen", "den"}, AutoReply: true}
	if !reflect.DeepEqual(made.Profile, want) || made.Path != "/owner/agent/coder" {
		t.Errorf("made %+v", made)
	}
	was, is := carry(agents.Order{Act: earshot.Changed, Agent: "CODER", Edit: edit(t, "auto_reply=no", "Rooms=all", "main=yes", "engine=", "model=m:1")})
	want.AutoReply, want.Rooms, want.Main, want.Engine, want.Model = false, nil, true, "", "m:1"
	if !reflect.DeepEqual(is.Profile, want) || was.Main || is.ID != made.ID {
		t.Errorf("changed %+v to %+v", was, is)
	}
	carry(agents.Order{Act: earshot.Changed, Agent: "/owner/agent/coder", Edit: edit(t, "name=Writer", "prompt=You write.")})
	h.restart()
	if r, err := h.book.Find(t.Context(), "writer"); err != nil || r.ID != made.ID || r.Instructions() != "You write." {
		t.Errorf("found %+v, %v", r, err)
	}
	sub, err := h.book.Spawn(t.Context(), made.ID, made.Path, earshot.PathSub, earshot.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.book.Find(t.Context(), "Writer's helper 0"); err != nil || r.ID != sub.ID {
		t.Errorf("found %+v, %v", r, err)
	}
	carry(agents.Order{Act: earshot.Ended, Agent: "Writer"})
	gone, err := h.book.Gone(t.Context(), 10)
	if err != nil || len(gone) != 2 || gone[0].ID != sub.ID || gone[1].Name != "Writer" {
		t.Errorf("gone are %+v, %v", gone, err)
	}
	for range 2 {
		if got := h.book.Former(); !slices.Equal(got, []string{"Writer"}) {
			t.Errorf("there were %q", got)
		}
		h.restart()
	}
}

// TestUsernamesAndWorkspaces: an agent is called and found by its username, and has a folder that it
// shares with nobody; both are permanent.
func TestUsernamesAndWorkspaces(t *testing.T) {
	h := newHouse(t)
	made := h.create(earshot.Profile{Name: "Coder", Username: "c0der-one", Workspace: "notes"})
	if made.Home() != "/agent/owner/notes" {
		t.Errorf("its files are at %s", made.Home())
	}
	if at, err := agents.ParsePath(made.Home()); err == nil {
		t.Errorf("the path of the files is that of an agent: %+v", at)
	}
	scout := h.create(earshot.Profile{Name: "Scout"})
	if scout.Home() != scout.Path {
		t.Errorf("the files of %s are at %s", scout.Path, scout.Home())
	}
	for _, tt := range []struct{ change, want string }{
		{"workspace=notes", "is that of Coder"}, {"workspace=..", "one word of small letters"}, {"workspace=a/b", "one word of small letters"}, {"workspace=Notes", "one word of small letters"},
		{"workspace=.private", "one word of small letters"}, {"workspace=a\\b", "one word of small letters"}, {"username=c0der-one", `for the agent "Coder"`}, {"username=Coder", "reserved for an agent"}, {"username=all", "reserved word"},
		{"username=" + strings.Repeat("x", 41), "must be at most 40"},
	} {
		_, _, err := h.book.Execute(t.Context(), owner, agents.Order{Act: earshot.Changed, Agent: "Scout", Edit: edit(t, tt.change)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.change, err, tt.want)
		}
	}
	h.restart()
	if r, err := h.book.Find(t.Context(), "C0DER-ONE"); err != nil || r.ID != made.ID || r.Workspace != "notes" {
		t.Errorf("found %+v, %v", r, err)
	}
	if p, ok := h.people.Find("c0der-one"); !ok || p.ID != made.ID {
		t.Errorf("there is %+v", p)
	}
	sub, err := h.book.Spawn(t.Context(), made.ID, made.Path, earshot.PathSub, earshot.Profile{Username: "helper-one", Workspace: "other"})
	if err != nil || sub.Username != "" || sub.Home() != sub.Path {
		t.Errorf("its helper is %+v, %v", sub, err)
	}
	for _, change := range []string{"workspace=other", "username=helper-one"} {
		_, _, err := h.book.Execute(t.Context(), owner, agents.Order{Act: earshot.Changed, Agent: string(sub.Path), Edit: edit(t, change)})
		if err == nil || !strings.Contains(err.Error(), "only an agent with a name has") {
			t.Errorf("its helper is given %s: %v", change, err)
		}
	}
	for user, want := range map[earshot.ParticipantID]earshot.Path{"": "", "family": "/agent/family/notes"} { // another user has other folders
		_, r, err := h.book.Execute(t.Context(), owner, agents.Order{Act: earshot.Created, User: user, Edit: edit(t, "name=Cook", "workspace=notes", "room=kitchen")})
		if (err == nil) != (want != "") || err == nil && r.Home() != want {
			t.Errorf("an agent of %q: %+v, %v", user, r, err)
		}
	}
	h.configured(func(s *agents.Setup) {
		s.Config = agents.Config{{Name: "Writer", Username: "C0der-one", Workspace: "notes"}}
	}, strings.Replace(h.lines(), "\n/owner/subuser", "\n/owner/agent/writer Writer (configured)\n/owner/subuser", 1))
	if r, err := h.book.Find(t.Context(), "c0der-one"); err != nil || r.Name != "Writer" {
		t.Errorf("the configuration gave the name to %+v, %v", r, err)
	}
	if r, _ := h.book.ByID(made.ID); r.Username != "" || r.Home() != r.Path {
		t.Errorf("what the configuration gave away is left to %+v", r)
	}
}

// TestUsernameFaults: what is wrong with a username or a workspace in the configuration is said.
func TestUsernameFaults(t *testing.T) {
	for want, c := range map[string]agents.Config{
		`agents[0].username: is "EARSHOT", which could be mistaken for the main agent`:   {{Name: "Bob", Username: "EARSHOT"}},
		`agents[1].username: is "BOB", which could be mistaken for that of agents[0]`:    {{Name: "Bob"}, {Name: "Ann", Username: "BOB"}},
		`agents[1].name: is "Ann", which could be mistaken for that of agents[0], "ann"`: {{Name: "Bob", Username: "ann"}, {Name: "Ann"}},
		`agents[0].username: is "Zed", which could be mistaken for a name in`:            {{Name: "Bob", Username: "Zed"}},
		`agents[0].username: cannot be used`:                                             {{Name: "Bob", Username: "all"}},
		`agents[1].workspace: is "notes", as for an agent before`:                        {{Name: "Bob", Workspace: "notes"}, {Name: "Ann", Workspace: "notes"}},
		`agents[0].workspace: is "../x"; must be one word of small letters`:              {{Name: "Bob", Workspace: "../x"}},
		"": {{Name: "Bob", Username: "builder", Workspace: "notes"}, {Name: "Ann", Workspace: "notes", User: "family", Rooms: []earshot.RoomID{"den"}}},
	} {
		actors := participants.DefaultConfig()
		actors.Actors = []participants.Actor{{ID: "zed", Type: participants.Human, DisplayName: "Zed"}}
		err := c.Validate(agents.Names{Main: "Earshot", Rooms: []earshot.RoomID{"den"}, Actors: actors})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}

// TestOrdersOfASubuser: the first agent of a subuser creates the subuser.
func TestOrdersOfASubuser(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"Cook", "Gardener"} {
		o := agents.Order{Act: earshot.Created, User: "family", Edit: edit(t, "name="+name, "room=kitchen")}
		if _, r, err := h.book.Execute(t.Context(), owner, o); err != nil || r.User != "family" {
			t.Errorf("made %+v, %v", r, err)
		}
	}
	if r, err := h.book.Find(t.Context(), "family gateway"); err != nil || r.Kind != earshot.PathSubuser {
		t.Errorf("the gateway is %+v, %v", r, err)
	}
}

func TestOrdersRefused(t *testing.T) {
	h := newHouse(t)
	h.create(earshot.Profile{Name: "Coder"})
	for _, tt := range []struct {
		name  string
		order agents.Order
		want  error
	}{
		{"an agent that is not", agents.Order{Act: earshot.Changed, Agent: "Codex"}, agents.ErrUnknown},
		{"nobody", agents.Order{Act: earshot.Ended}, agents.ErrUnknown},
		{"a path that is not", agents.Order{Act: earshot.Ended, Agent: "/owner/agent/codex"}, agents.ErrUnknown},
		{"the main agent", agents.Order{Act: earshot.Ended, Agent: "Earshot"}, agents.ErrConfigured},
		{"an act that is none", agents.Order{Act: earshot.Merged, Agent: "Coder"}, agents.ErrProfile},
		{"a subuser that cannot be", agents.Order{Act: earshot.Created, User: "a/b", Edit: edit(t, "name=x")}, nil},
		{"a room that is not", agents.Order{Act: earshot.Changed, Agent: "Coder", Edit: edit(t, "room=attic")}, agents.ErrProfile},
	} {
		if _, _, err := h.book.Execute(t.Context(), owner, tt.order); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, _, err := h.book.Execute(t.Context(), ann, tt.order); err == nil || tt.order.Act != earshot.Created && !errors.Is(err, agents.ErrNotYours) {
			t.Errorf("%s, by Ann: %v", tt.name, err)
		}
	}
	var e agents.Edit
	for _, wrong := range [][2]string{{"main", "perhaps"}, {"path", "/owner/agent/x"}, {"", ""}} {
		if err := e.Set(wrong[0], wrong[1]); !errors.Is(err, agents.ErrProfile) {
			t.Errorf("%q is %q: %v", wrong[0], wrong[1], err)
		}
	}
}
