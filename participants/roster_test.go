package participants_test

import (
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
)

// TestEveryChangeMakesTheRosterAnew is lessons A.2, defect 1: in that program, making or deleting
// an agent did not renew the roster.
func TestEveryChangeMakesTheRosterAnew(t *testing.T) {
	r, l := open(t, house())
	ann := r.Resolve(console)
	dora := claim(t, r, "Dora")
	var guest participants.Participant
	for _, tt := range []struct {
		name   string
		change func() any
	}{
		{"somebody comes", func() any { return r.Come(earshot.Desk, dora.ID, "1") }},
		{"somebody comes elsewhere", func() any { return r.Come("den", "bob", "2") }},
		{"somebody goes", func() any { return r.Go("den", "bob", "2") }},
		{"somebody new", func() any { return claim(t, r, "Eve") }},
		{"a guest", func() any { guest = claim(t, r, "anonymous"); return nil }},
		{"a guest goes", func() any {
			r.Attach(participants.Session{ID: "g", Participant: guest.ID, Account: nobody})
			r.Detach("g")
			return nil
		}},
		{"a new name", func() any { return r.Rename(t.Context(), ann, dora.ID, "Theodora") }},
		{"a merger", func() any { return r.Merge(t.Context(), ann, "ann", dora.ID) }},
		{"a split", func() any { return r.Split(t.Context(), ann, dora.ID) }},
		{"a new agent", func() any { return r.Introduce(t.Context(), participants.Participant{ID: "a1", Name: "Ranger"}, kept) }},
		{"an agent dismissed", func() any { r.Dismiss("a1"); return nil }},
		{"a change from the journal", func() any {
			r.Apply(earshot.Actor{Act: earshot.Created, Participant: "p_x", Name: "Xenia", Type: "human"})
			return nil
		}},
	} {
		roster, version := r.Roster(earshot.Desk), r.Version()
		if r.Roster(earshot.Desk) != roster || roster.Version != version {
			t.Fatalf("before %q: the roster is made anew though nothing changed", tt.name)
		}
		if err, failed := tt.change().(error); failed && err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if now := r.Roster(earshot.Desk); now == roster || now.Version <= version || r.Version() != now.Version {
			t.Errorf("%s: the roster is the old one", tt.name)
		}
	}
	version := r.Version()
	r.Come(earshot.Desk, dora.ID, "1")
	r.Come(earshot.Desk, participants.Generic, "3")
	r.Go(earshot.Desk, "bob", "1")
	r.Dismiss("a1")
	r.Resolve(console)
	if r.Version() != version {
		t.Error("what changes nothing made a new version")
	}
	if len(l.changes) != 5 {
		t.Errorf("recorded %v", l.changes)
	}
}

// TestRoster: people and agents are listed separately.
func TestRoster(t *testing.T) {
	r, _ := open(t, house())
	for i, id := range []earshot.ParticipantID{"claude", "bob", "ann", participants.Generic, "none"} {
		r.Come(earshot.Desk, id, fmt.Sprint(i))
	}
	r.Come("den", "tess", "9")
	if got := called(r.Roster(earshot.Desk)); got != "Ann, Bob, Claude | Earshot, Scout" {
		t.Errorf("at the desk are %s", got)
	}
	if got := called(r.Roster("den")); got != "Tess | Earshot, Scout" {
		t.Errorf("in the den are %s", got)
	}
	if got := names(r.Known()); got != "Ann, Bob, Claude, Tess" {
		t.Errorf("known are %s", got)
	}
	if got := names(r.Everybody()); got != "Ann, Bob, Claude, Earshot, Scout, Tess" {
		t.Errorf("everybody is %s", got)
	}
}

// TestTheGenericParticipantIsNeverHere: the generic participant can be resolved and may only write.
func TestTheGenericParticipantIsNeverHere(t *testing.T) {
	r, _ := open(t, house())
	h := r.Attach(participants.Session{ID: "1", Participant: participants.Generic, Account: console})
	p := r.Resolve(h)
	if p.ID != participants.Generic || len(p.Capabilities) != 1 || !p.Can(participants.SendMessages) {
		t.Errorf("a script is %+v", p)
	}
	if r.Come(earshot.Desk, p.ID, "1") || r.Go(earshot.Desk, p.ID, "1") || len(r.Here(earshot.Desk)) != 0 {
		t.Errorf("here are %v", r.Here(earshot.Desk))
	}
}

func called(r *participants.Roster) string { return names(r.External) + " | " + names(r.Internal) }

func names(all []participants.Participant) string {
	var list []string
	for _, p := range all {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// crowd returns a registry with n people, all at the desk.
func crowd(b testing.TB, n int) *participants.Registry {
	c := participants.DefaultConfig()
	for i := range n {
		c.Actors = append(c.Actors, participants.Actor{
			ID: earshot.ParticipantID(fmt.Sprintf("actor-%d-x", i)), DisplayName: fmt.Sprintf("Person %d x", i), Handles: []string{fmt.Sprintf("console:uid%d", 1000+i)},
		})
	}
	r, _ := open(b, c)
	for i, a := range c.Actors {
		r.Come(earshot.Desk, a.ID, fmt.Sprint(i))
	}
	return r
}

func TestNothingIsAllocatedWhenNothingChanged(t *testing.T) {
	r := crowd(t, 100)
	r.Roster(earshot.Desk)
	if n := testing.AllocsPerRun(100, func() { r.Roster(earshot.Desk); r.Resolve(console); r.Version() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkResolve(b *testing.B) {
	r := crowd(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		r.Resolve(console)
	}
}

func BenchmarkRosterUnchanged(b *testing.B) {
	r := crowd(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		r.Roster(earshot.Desk)
	}
}

func BenchmarkRosterAfterAChange(b *testing.B) {
	r := crowd(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		r.Go(earshot.Desk, "actor-7-x", "7")
		r.Come(earshot.Desk, "actor-7-x", "7")
		r.Roster(earshot.Desk)
	}
}

func BenchmarkClaim(b *testing.B) {
	r := crowd(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Claim(b.Context(), console, "person 42 x", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		participants.Key("Person 42 x")
	}
}
