package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestPromptsAreNobodysBusiness: only the operator can read an agent's prompt and the rest of its
// profile in the journal; no guest and no agent can.
func TestPromptsAreNobodysBusiness(t *testing.T) {
	h := houseIn(t, t.TempDir())
	h.setup.Config = agents.Config{{Name: "Butler", Prompt: "canary one"}}
	h.open()
	defer h.close()
	r := h.create(earshot.Profile{Name: "Coder", Prompt: "canary two"})
	if _, err := h.book.Change(t.Context(), owner, r.ID, func(p *earshot.Profile) { p.Prompt = "canary three" }); err != nil {
		t.Fatal(err)
	}
	read := func(a earshot.Audience) string {
		a.Room = earshot.Desk
		events, err := h.store.For(a).Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, a := range map[string]earshot.Audience{
		"a guest": {Members: []earshot.ParticipantID{"ann"}}, "the owner with a guest": {Members: []earshot.ParticipantID{participants.Owner, "ann"}},
		"anybody": {Unknown: true}, "the agent": earshot.Audience{Unknown: true}.With(participants.Agent), "nobody": {},
	} {
		if got := read(a); strings.Contains(got, "canary") || strings.Contains(got, "You are Earshot.") {
			t.Errorf("%s reads %s", name, got)
		}
	}
	if got := read(earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}}); strings.Count(got, "canary") != 3 {
		t.Errorf("the owner reads %s", got)
	}
	h.restart()
	if again, err := h.book.Find(t.Context(), "Coder"); err != nil || again.Prompt != "canary three" {
		t.Errorf("after a restart it is %+v: %v", again, err)
	}
}
