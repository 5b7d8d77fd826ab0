package agents_test

import (
	"errors"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestAnAgentsLife makes an agent and one below it, ends both, and checks each step, also after a
// restart.
func TestAnAgentsLife(t *testing.T) {
	h := newHouse(t)
	main, err := h.book.Resolve(t.Context(), "/owner/agent/earshot")
	if err != nil || main.ID != participants.Agent {
		t.Fatalf("the main agent is %+v, %v", main, err)
	}
	coder := h.create(earshot.Profile{Name: "Coder", Description: "writes code", AutoReply: true})
	if coder.Path != "/owner/agent/coder" || coder.Kind != earshot.PathAgent || coder.Role != earshot.RoleUser || coder.User != participants.Owner {
		t.Errorf("made %+v", coder)
	}
	sub, err := h.book.Spawn(t.Context(), coder.ID, coder.Path, earshot.PathSub, earshot.Profile{Name: "ignored"})
	if err != nil || sub.Path != "/owner/agent/coder/sub/0" || sub.Role != earshot.RoleSubagent || sub.Name != "" {
		t.Fatalf("spawned %+v, %v", sub, err)
	}
	if p, ok := h.people.Find("coder"); !ok || p.ID != coder.ID || p.Type != participants.Internal {
		t.Errorf("found %+v", p)
	}
	h.restart()
	for _, r := range []agents.Record{main, coder, sub} {
		if got, err := h.book.Resolve(t.Context(), r.Path); err != nil || got.ID != r.ID {
			t.Errorf("%s is %+v, %v", r.Path, got, err)
		}
	}
	if got := h.people.Name(sub.ID); got != "Coder's helper 0" {
		t.Errorf("the sub is called %q", got)
	}
	if err := h.book.End(t.Context(), owner, coder.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, r := range []agents.Record{coder, sub} {
			if _, err := h.book.Resolve(t.Context(), r.Path); !errors.Is(err, agents.ErrDead) {
				t.Errorf("%s: %v", r.Path, err)
			}
		}
		if _, err := h.book.Resolve(t.Context(), "/owner/agent/nobody"); !errors.Is(err, agents.ErrUnknown) {
			t.Error(err)
		}
		if got := h.people.Name(sub.ID); got != "Coder's helper 0" {
			t.Errorf("the dead sub is called %q", got)
		}
		if _, found := h.people.Find("Coder"); found {
			t.Error("the dead can be called")
		}
		h.restart()
	}
	if again := h.create(earshot.Profile{Name: "Coder"}); again.Path != "/owner/agent/coder-2" {
		t.Errorf("the second of the name is at %s", again.Path)
	}
}

// TestNobodyWaitsForThem: Clear ends all agents that were made for one task, and nobody else.
func TestNobodyWaitsForThem(t *testing.T) {
	h := newHouse(t)
	coder := h.create(earshot.Profile{Name: "Coder"})
	at := coder.Path
	var gone []earshot.Path
	spawn := func(parent earshot.Path, kind earshot.PathKind) earshot.Path {
		r, err := h.book.Spawn(t.Context(), coder.ID, parent, kind, earshot.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Path
	}
	for range 12 {
		gone = append(gone, spawn(at, earshot.PathSub))
	}
	gone = append(gone, spawn(gone[1], earshot.PathSub), spawn(gone[11], earshot.PathSearch), spawn(gone[1]+"/sub/0", earshot.PathSub))
	memory := spawn(at, earshot.PathMemory)
	h.restart()
	for range 2 { // the second time there is nothing to do
		if err := h.book.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range gone {
			if _, err := h.book.Resolve(t.Context(), p); !errors.Is(err, agents.ErrDead) {
				t.Errorf("%s: %v", p, err)
			}
		}
		for _, p := range []earshot.Path{at, memory, "/owner/agent/earshot"} {
			if _, err := h.book.Resolve(t.Context(), p); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}
