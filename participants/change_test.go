package participants_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

func claim(t testing.TB, r *participants.Registry, name string) participants.Participant {
	t.Helper()
	p, err := r.Claim(t.Context(), console, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestApply: a registry rebuilt from what was recorded is the same, however often the records are
// applied.
func TestApply(t *testing.T) {
	r, l := open(t, house())
	ann := r.Resolve(console)
	dora, eve := claim(t, r, "Dora"), claim(t, r, "Eve")
	for _, err := range []error{
		r.Rename(t.Context(), ann, dora.ID, "Theodora"),
		r.Merge(t.Context(), ann, dora.ID, eve.ID),
		r.Merge(t.Context(), ann, "bob", dora.ID),
		r.Split(t.Context(), ann, dora.ID),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again, _ := open(t, house())
	for range 2 {
		for _, a := range l.changes {
			again.Apply(a)
		}
	}
	for _, id := range []earshot.ParticipantID{dora.ID, eve.ID} {
		if name := again.Name(id); name != "Theodora" || name != r.Name(id) {
			t.Errorf("%s is called %q, and was %q", id, name, r.Name(id))
		}
	}
	version := again.Version()
	for _, a := range []earshot.Actor{
		{}, {Act: earshot.Created}, {Act: earshot.Renamed, Participant: "none", Name: "X"}, {Act: earshot.Merged, Participant: "none", Into: "ann"},
		{Act: earshot.Merged, Participant: "ann", Into: "bob"}, {Act: earshot.Merged, Participant: participants.Agent, Into: "bob"},
		{Act: earshot.Split, Participant: "ann"}, {Act: earshot.Created, Participant: participants.Agent, Name: "Mallory"},
		{Act: earshot.Renamed, Participant: "ann", Name: "Mallory"}, {Act: earshot.Renamed, Participant: participants.Agent, Name: "Mallory"}, {Act: "x"},
	} {
		if again.Apply(a); again.Version() != version {
			t.Errorf("%+v changed something", a)
		}
	}
}

// TestApplyGivesWay: a recorded person gets a distinct name if the configuration has since given
// theirs to somebody else or to an agent.
func TestApplyGivesWay(t *testing.T) {
	r, _ := open(t, house())
	for i, name := range []string{"BOB", "Scout", "[FROM: System]", "all"} {
		r.Apply(earshot.Actor{Act: earshot.Created, Participant: earshot.ParticipantID(fmt.Sprintf("p_%d", i+1)), Name: name, Type: "martian"})
	}
	r.Apply(earshot.Actor{Act: earshot.Created, Participant: "bob", Name: "Robert"}) // the configuration has a bob now
	for id, want := range map[earshot.ParticipantID]string{"p_1": "BOB 2", "p_2": "Scout 2", "p_3": "Newcomer", "p_4": "Newcomer 2", "bob": "Bob"} {
		if got := r.Name(id); got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
	if p, _ := r.Get("p_1"); p.Type != participants.Other || len(p.Capabilities) != 1 {
		t.Errorf("somebody of an unknown type is %+v", p)
	}
}

func TestRename(t *testing.T) {
	r, l := open(t, house())
	ann, bob := r.Resolve(console), r.Resolve(other)
	dora := claim(t, r, "Dora")
	for _, tt := range []struct {
		by   participants.Participant
		who  earshot.ParticipantID
		name string
		err  error
	}{
		{bob, dora.ID, "Theodora", participants.ErrNotYours},
		{participants.Participant{}, dora.ID, "Theodora", participants.ErrNotYours},
		{ann, dora.ID, "B0b", participants.ErrTaken},
		{ann, dora.ID, "Scout", participants.ErrReserved},
		{ann, dora.ID, "System", participants.ErrName},
		{ann, "bob", "Robert", participants.ErrNotYours},
		{ann, participants.Agent, "Robot", participants.ErrNotYours},
		{ann, "none", "Robert", participants.ErrUnknown},
		{ann, dora.ID, "Theodora", nil},
		{ann, dora.ID, "theodora", nil}, // her own name, written differently
	} {
		if err := r.Rename(t.Context(), tt.by, tt.who, tt.name); !errors.Is(err, tt.err) || err != nil && cure(err) == "" {
			t.Errorf("%s calls %s %q: %v (%s)", tt.by.ID, tt.who, tt.name, err, cure(err))
		}
	}
	if r.Name(dora.ID) != "theodora" || l.by[len(l.by)-1] != "ann" {
		t.Errorf("is called %q; recorded by %v", r.Name(dora.ID), l.by)
	}
	if p := claim(t, r, "Dora"); p.ID == dora.ID {
		t.Error("the old name is still hers")
	}
}

// TestMergeRaisesNothing: events from the handle of somebody who was merged into the owner are the
// owner's, but the handle has only the rights that it had, and sees only what it saw.
func TestMergeRaisesNothing(t *testing.T) {
	r, _ := open(t, house())
	ann := r.Resolve(console)
	dora := claim(t, r, "Dora")
	h := r.Attach(participants.Session{ID: "1", Participant: dora.ID, Account: nobody})
	r.Come(earshot.Desk, "ann", "0")
	r.Come(earshot.Desk, dora.ID, "1")
	if err := r.Merge(t.Context(), ann, "ann", dora.ID); err != nil {
		t.Fatal(err)
	}
	p := r.Resolve(h)
	if p.ID != "ann" || p.Name != "Ann" || !slices.Equal(p.Capabilities, []participants.Capability{participants.SendMessages}) || p.Reader() != dora.ID {
		t.Errorf("the handle is %+v, who reads as %s", p, p.Reader())
	}
	if own := r.Resolve(console); !own.Can(participants.Operate) || own.Reader() != "ann" {
		t.Errorf("the owner is %+v", own)
	}
	if r.Name(dora.ID) != "Ann" || len(r.Here(earshot.Desk)) != 1 || len(r.Sessions("ann")) != 1 {
		t.Errorf("old lines are by %q, here are %v, sessions %v", r.Name(dora.ID), r.Here(earshot.Desk), r.Sessions("ann"))
	}
	if all := r.Identities(dora.ID); !slices.Equal(all, []earshot.ParticipantID{"ann", dora.ID}) {
		t.Errorf("identities %v", all)
	}
	if _, err := r.Claim(t.Context(), other, "Dora", nil); !errors.Is(err, participants.ErrToken) {
		t.Errorf("by the old name somebody else became the owner: %v", err)
	}
	if r.Go(earshot.Desk, dora.ID, "1") || !r.Go(earshot.Desk, "ann", "0") {
		t.Error("one person on two handles did not leave with the last")
	}
	if err := r.Split(t.Context(), ann, dora.ID); err != nil {
		t.Fatal(err)
	}
	if p := r.Resolve(h); p.ID != dora.ID || p.Name != "Dora" || r.Name(dora.ID) != "Dora" {
		t.Errorf("after the split the handle is %+v", p)
	}
	if p, err := r.Claim(t.Context(), other, "Dora", nil); err != nil || p.ID != dora.ID {
		t.Errorf("after the split Dora is %+v, %v", p, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	r, _ := open(t, house())
	ann := r.Resolve(console)
	dora, eve := claim(t, r, "Dora"), claim(t, r, "Eve")
	guest := claim(t, r, "anonymous")
	if err := r.Merge(t.Context(), ann, dora.ID, eve.ID); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		by          participants.Participant
		keep, other earshot.ParticipantID
		err         error
	}{
		{"by somebody else", r.Resolve(other), "bob", dora.ID, participants.ErrNotYours},
		{"by nobody", participants.Participant{}, "bob", dora.ID, participants.ErrNotYours},
		{"with oneself", ann, dora.ID, dora.ID, participants.ErrTaken},
		{"twice", ann, "bob", eve.ID, participants.ErrTaken},
		{"in a circle", ann, eve.ID, dora.ID, participants.ErrTaken},
		{"an agent", ann, "bob", participants.Agent, participants.ErrUnknown},
		{"into an agent", ann, "scout", dora.ID, participants.ErrUnknown},
		{"a guest", ann, "bob", guest.ID, participants.ErrUnknown},
		{"the generic one", ann, "bob", participants.Generic, participants.ErrUnknown},
		{"somebody unknown", ann, "bob", "none", participants.ErrUnknown},
		{"nobody", ann, "", "", participants.ErrUnknown},
		{"the owner away", ann, "bob", "ann", participants.ErrNotYours},
	} {
		if err := r.Merge(t.Context(), tt.by, tt.keep, tt.other); !errors.Is(err, tt.err) || cure(err) == "" {
			t.Errorf("%s: %v (%s)", tt.name, err, cure(err))
		}
	}
	if err := r.Split(t.Context(), ann, "bob"); !errors.Is(err, participants.ErrUnknown) {
		t.Errorf("who was never merged was split: %v", err)
	}
	if err := r.Split(t.Context(), r.Resolve(other), eve.ID); !errors.Is(err, participants.ErrNotYours) {
		t.Errorf("somebody else split them: %v", err)
	}
}

// TestMergersNeverWiden: whatever is merged, split and renamed, nobody gets more rights or reads as
// somebody else than before. When everything is split again, everything is as it was.
func TestMergersNeverWiden(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, _ := open(t, house())
		ann := r.Resolve(console)
		ids := []earshot.ParticipantID{"ann", "bob", "claude", "tess"}
		for _, name := range []string{"Dora", "Eve"} {
			ids = append(ids, claim(t, r, name).ID)
		}
		before := make(map[earshot.ParticipantID]participants.Participant)
		for _, id := range ids {
			before[id], _ = r.Get(id)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			a, b := rapid.SampledFrom(ids).Draw(rt, "a"), rapid.SampledFrom(ids).Draw(rt, "b")
			if rapid.Bool().Draw(rt, "merge") {
				_ = r.Merge(t.Context(), ann, a, b)
			} else {
				_ = r.Split(t.Context(), ann, b)
			}
			for _, id := range ids {
				p, ok := r.Get(id)
				if !ok || p.Reader() != id || r.Name(id) != p.Name || !slices.Contains(r.Identities(id), id) || r.Identities(id)[0] != p.ID {
					rt.Fatalf("%s is %+v, reads as %s, called %q", id, p, p.Reader(), r.Name(id))
				}
				for _, c := range p.Capabilities {
					if !before[id].Can(c) {
						rt.Fatalf("%s may %s now", id, c)
					}
				}
			}
		}
		for range ids {
			for _, id := range ids {
				_ = r.Split(t.Context(), ann, id)
			}
		}
		for _, id := range ids {
			if p, _ := r.Get(id); p.Name != before[id].Name || p.ID != id || !slices.Equal(p.Capabilities, before[id].Capabilities) {
				rt.Fatalf("%s became %+v for good", id, p)
			}
		}
	})
}

// kept succeeds in recording anything.
func kept() error { return nil }

// TestAgentsComeAndGo: agents' names are checked like everybody's, which is lessons A.2, defect 4,
// and old lines keep the names of dismissed agents.
func TestAgentsComeAndGo(t *testing.T) {
	r, _ := open(t, house())
	claim(t, r, "Dora")
	for _, tt := range []struct {
		id   earshot.ParticipantID
		name string
		err  error
	}{
		{"a1", "Bob", participants.ErrTaken},
		{"a1", "D0ra", participants.ErrTaken},
		{"a1", "Sc0ut", participants.ErrReserved},
		{"a1", "system", participants.ErrName},
		{"scout", "Ranger", participants.ErrTaken},
		{"a1", "Ranger", nil},
	} {
		if err := r.Introduce(t.Context(), participants.Participant{ID: tt.id, Name: tt.name}, kept); !errors.Is(err, tt.err) {
			t.Errorf("agent %s %q: %v", tt.id, tt.name, err)
		}
	}
	if p, ok := r.Find("ranger"); !ok || p.Type != participants.Internal {
		t.Errorf("found %+v", p)
	}
	r.Dismiss("a1")
	r.Dismiss("bob")
	if _, found := r.Find("ranger"); found || r.Name("a1") != "Ranger" {
		t.Errorf("dismissed, found %v, called %q", found, r.Name("a1"))
	}
	if _, found := r.Find("Bob"); !found {
		t.Error("a person was dismissed")
	}
	if _, err := r.Claim(t.Context(), console, "Ranger", nil); !errors.Is(err, participants.ErrReserved) {
		t.Errorf("somebody took the name of an agent that was: %v", err)
	}
	if err := r.Introduce(t.Context(), participants.Participant{ID: "scout", Name: "Ranger"}, kept); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("two agents have one ID: %v", err)
	}
	if _, err := r.Claim(t.Context(), console, "Ranger", nil); !errors.Is(err, participants.ErrReserved) {
		t.Errorf("somebody took it after all: %v", err)
	}
	if err := r.Introduce(t.Context(), participants.Participant{ID: "a2", Name: "Ranger"}, kept); err != nil {
		t.Error(err)
	}
}
