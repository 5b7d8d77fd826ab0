package agents_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// nine makes an agent of each kind, and returns their paths by kind.
func (h *house) nine() map[earshot.PathKind]earshot.Path {
	h.t.Helper()
	at := make(map[earshot.PathKind]earshot.Path)
	for _, path := range []earshot.Path{"/owner/desktop", "/owner/agent/coder", "/owner/cron/daily", "/owner/task/move", "/owner/subuser/family", "/system/attic"} {
		r, err := h.book.Ensure(h.t.Context(), owner, path, earshot.Profile{})
		if err != nil {
			h.t.Fatal(err)
		}
		at[r.Kind] = r.Path
	}
	for _, kind := range []earshot.PathKind{earshot.PathSub, earshot.PathMemory, earshot.PathSearch} {
		r, err := h.book.Spawn(h.t.Context(), participants.Owner, at[earshot.PathAgent], kind, earshot.Profile{})
		if err != nil {
			h.t.Fatal(err)
		}
		at[kind] = r.Path
	}
	return at
}

// TestTheNineKinds: each kind of address resolves to its agent, has its role, and says whether
// anybody may write to it.
func TestTheNineKinds(t *testing.T) {
	h := newHouse(t)
	at := h.nine()
	for _, tt := range []struct {
		kind earshot.PathKind
		role earshot.Role
		no   string // why nobody may write to it
	}{
		{earshot.PathConnector, earshot.RoleUser, ""},
		{earshot.PathAgent, earshot.RoleUser, ""},
		{earshot.PathCron, "", ""},
		{earshot.PathTask, earshot.RoleTask, ""},
		{earshot.PathSubuser, earshot.RoleUser, ""},
		{earshot.PathSystem, "", "is a part of earshot itself"},
		{earshot.PathSub, earshot.RoleSubagent, ""},
		{earshot.PathMemory, earshot.RoleMemory, "remembers for another agent"},
		{earshot.PathSearch, earshot.RoleSearch, "looks something up for another agent"},
	} {
		r, err := h.book.Resolve(t.Context(), at[tt.kind])
		if err != nil || r.Kind != tt.kind || r.Role != tt.role {
			t.Errorf("%s is %+v, %v", at[tt.kind], r, err)
		}
		for _, to := range []string{string(r.Path), string(r.ID)} {
			got, err := h.book.Recipients(t.Context(), owner, to)
			switch {
			case tt.no == "" && (err != nil || len(got) != 1 || got[0].ID != r.ID):
				t.Errorf("a message to %s goes to %v, %v", to, got, err)
			case tt.no != "" && (!errors.Is(err, agents.ErrNotYours) || !strings.Contains(err.Error(), tt.no) || earshot.Cure(err) == ""):
				t.Errorf("a message to %s: %v", to, err)
			}
		}
	}
}

// TestRecipients: an address is one agent or those that match a pattern; anything else is refused
// with why and what to do.
func TestRecipients(t *testing.T) {
	h := newHouse(t)
	h.nine()
	h.create(earshot.Profile{Name: "Reviewer"})
	gone := h.create(earshot.Profile{Name: "Gone"})
	if err := h.book.End(t.Context(), owner, gone.ID); err != nil {
		t.Fatal(err)
	}
	theirs, err := h.book.Create(t.Context(), owner, "family", earshot.Profile{Name: "Nanny", Rooms: []earshot.RoomID{"den"}})
	if err != nil {
		t.Fatal(err)
	}
	family := participants.Participant{ID: "family", Name: "Family", Capabilities: ann.Capabilities}
	for _, tt := range []struct {
		by       participants.Participant
		to, want string // the paths, or the error and its cure
		is       error
	}{
		{owner, "/owner/agent/*", "/owner/agent/coder /owner/agent/earshot /owner/agent/reviewer", nil},
		{owner, "/*/agent/*", "/family/agent/nanny /owner/agent/coder /owner/agent/earshot /owner/agent/reviewer", nil},
		{owner, "/owner/agent/cod*", "is not a pattern", agents.ErrPath},
		{owner, "owner/agent/*", "is not a pattern", agents.ErrPath},
		{owner, "/owner/*", "/owner/desktop", nil},
		{owner, "/own/agent/*", "no agent that matches", agents.ErrUnknown},
		{owner, "/owner/agent/*/memory", "nobody can write to \"/owner/agent/coder/memory\"", agents.ErrNotYours},
		{owner, "/system/*", "is a part of earshot itself", agents.ErrNotYours},
		{family, "/family/agent/nanny", "/family/agent/nanny", nil},
		{family, "/family/agent/*", "/family/agent/nanny", nil},
		{ann, "/*/agent/*", "/owner/agent/coder /owner/agent/earshot /owner/agent/reviewer", nil},
		{participants.Participant{ID: participants.Generic}, "/owner/agent/coder", "/owner/agent/coder", nil},
		{owner, string(theirs.ID), "/family/agent/nanny", nil},
		{ann, "/family/agent/nanny", "belongs to another user, family → call it by its name", agents.ErrNotYours},
		{ann, string(theirs.ID), "belongs to another user, family", agents.ErrNotYours},
		{ann, "/family/agent/*", "belongs to another user, family", agents.ErrNotYours},
		{participants.Participant{}, "/owner/agent/coder", "needs a sender", agents.ErrNotYours},
		{owner, "/owner/agent/gone", "has ended, and its path is never used again", agents.ErrDead},
		{owner, string(gone.ID), "has ended, and its path is never used again", agents.ErrDead},
		{owner, "/owner/agent/codr", "there is no agent at \"/owner/agent/codr\" → perhaps you mean /owner/agent/coder;", agents.ErrUnknown},
		{owner, "/family/agent/nany", "→ perhaps you mean /family/agent/nanny", agents.ErrUnknown},
		{ann, "/family/agent/nany", "→ list the agents", agents.ErrUnknown}, // it would tell of another user's
		{owner, "coder", "no agent has the ID \"coder\" → perhaps you mean /owner/agent/coder;", agents.ErrUnknown},
		{owner, "/owner/agent/zebra", "→ list the agents", agents.ErrUnknown},
		{owner, "/owner/agent/zebra/memory", "remembers for another agent, and answers nobody → write to the agent that it works for: /owner/agent/zebra", agents.ErrNotYours},
		{owner, "/system/retention", "is a part of earshot itself", agents.ErrNotYours},
		{owner, "/owner/agent/Coder", "is not a path", agents.ErrPath},
		{owner, "/" + strings.Repeat("*/", 500), "is not a pattern", agents.ErrPath},
	} {
		got, err := h.book.Recipients(t.Context(), tt.by, tt.to)
		said := ""
		for _, r := range got {
			said += " " + string(r.Path)
		}
		if err != nil {
			said = err.Error() + " → " + earshot.Cure(err)
		}
		if !errors.Is(err, tt.is) || err == nil && strings.TrimSpace(said) != tt.want || !strings.Contains(said, tt.want) {
			t.Errorf("%s to %s: %s, want %s", tt.by.ID, tt.to, said, tt.want)
		}
	}
	if _, err := h.book.Resolve(t.Context(), "/system/retention"); !errors.Is(err, agents.ErrUnknown) {
		t.Errorf("a message has made %v", err)
	}
}

// TestPatternsMatchWords: a pattern is never a part of a word, and never more or fewer words.
func TestPatternsMatchWords(t *testing.T) {
	h := newHouse(t)
	h.nine()
	rapid.Check(t, func(t *rapid.T) {
		all := h.book.List()
		r := all[rapid.IntRange(0, len(all)-1).Draw(t, "agent")]
		words := strings.Split(string(r.Path), "/")
		for i := 1; i < len(words); i++ {
			if i == 1 || rapid.Bool().Draw(t, "star") {
				words[i] = "*"
			}
		}
		got, err := h.book.Recipients(t.Context(), owner, strings.Join(words, "/"))
		for _, to := range got {
			is := strings.Split(string(to.Path), "/")
			if !slices.EqualFunc(words, is, func(w, is string) bool { return w == "*" || w == is }) {
				t.Fatalf("%v matches %s", words, to.Path)
			}
		}
		_, alone := h.book.Recipients(t.Context(), owner, string(r.Path))
		if alone == nil && (err != nil || !slices.ContainsFunc(got, func(to agents.Record) bool { return to.ID == r.ID })) {
			t.Fatalf("%v does not match %s: %v", words, r.Path, err)
		}
	})
}
