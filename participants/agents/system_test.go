package agents_test

import (
	"errors"
	"strings"
	"testing"

	"earshot"
	"earshot/participants/agents"
)

// TestPrograms: the agents of the program itself are made once, whatever the configuration says, have
// no seat and no name, and nobody can change or end them.
func TestPrograms(t *testing.T) {
	h := newHouse(t)
	for range 3 {
		if err := h.book.EnsureSystem(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.book.Reconfigure(t.Context(), h.setup); err != nil {
			t.Fatal(err)
		}
		h.restart()
	}
	made := 0
	for _, r := range h.book.List() {
		if r.Kind != earshot.PathSystem {
			continue
		}
		made++
		if at, err := agents.ParsePath(r.Path); err != nil || at.Kind != r.Kind || string(r.ID) != string(r.Path) || r.User != "" || r.Name != "" || r.Role != "" || r.SitsIn(earshot.Desk) || r.Description == "" {
			t.Errorf("%+v, %v", r, err)
		}
		if label := h.book.Label(r.ID); !strings.HasPrefix(label, "system ") {
			t.Errorf("it is called %q", label)
		}
		for _, act := range []earshot.Act{earshot.Changed, earshot.Ended} {
			_, _, err := h.book.Execute(t.Context(), owner, agents.Order{Act: act, Agent: string(r.Path), Edit: agents.Edit{Name: new("Bob")}})
			if !errors.Is(err, agents.ErrConfigured) || !strings.Contains(err.Error(), "is a part of earshot itself") {
				t.Errorf("%s: %v", act, err)
			}
		}
	}
	if made != 3 || len(h.book.In(earshot.Desk)) != 1 || len(h.book.Participants()) != 1 {
		t.Errorf("%d were made, and there are %v", made, h.book.Participants())
	}
}
