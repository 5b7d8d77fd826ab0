package agents_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot"
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
