package participants_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/participants"
)

// invented returns the nth made-up name. No two of these names could be mistaken for each other.
func invented(n int) string {
	const letters = "bdghkvxz"
	name := "Q"
	for range 5 {
		name += string(letters[n%8]) + string(letters[n%8]) + "a"
		n /= 8
	}
	return name
}

// comes lets somebody give a name, use a terminal for some time, and leave.
func comes(t testing.TB, r *participants.Registry, l *ledger, name string, while time.Duration) participants.Participant {
	t.Helper()
	p := claim(t, r, name)
	session := fmt.Sprint(l.now.UnixNano(), name)
	r.Attach(participants.Session{ID: session, Room: earshot.Desk, Participant: p.ID, Account: other})
	r.Come(earshot.Desk, p.ID, session)
	l.now = l.now.Add(while)
	r.Go(earshot.Desk, p.ID, session)
	r.Detach(session)
	return p
}

// TestInventedNamesLapse: thousands of names lock nobody out. People who were known before, people
// who are here, and people who come meanwhile stay known. A restart in the middle changes nothing.
func TestInventedNamesLapse(t *testing.T) {
	r, l := open(t, house())
	dora := comes(t, r, l, "Dora", time.Minute)
	l.now = l.now.Add(48 * time.Hour)
	comes(t, r, l, "Dora", time.Minute)
	emil := comes(t, r, l, "Emil", time.Minute) // only once
	fred := claim(t, r, "Fred")
	r.Attach(participants.Session{ID: "fred", Room: earshot.Desk, Participant: fred.ID, Account: other})
	for n := range 2500 {
		switch l.now = l.now.Add(time.Second); n {
		case 1200:
			comes(t, r, l, "Gwen", time.Minute)
		case 1500:
			before := l
			r = replayed(t, house(), before)
			r, l = continued(t, r, before)
			r.Attach(participants.Session{ID: "fred", Room: earshot.Desk, Participant: fred.ID, Account: other})
		}
		if _, err := r.Claim(t.Context(), other, invented(n), nil); err != nil {
			t.Fatalf("name %d is refused: %v", n, err)
		}
		if n%100 == 0 && len(r.Known()) > 1020 {
			t.Fatalf("%d people are known", len(r.Known()))
		}
	}
	for _, p := range []participants.Participant{dora, emil, fred} {
		if q := claim(t, r, p.Name); q.ID != p.ID {
			t.Errorf("%s is somebody else now", p.Name)
		}
	}
	gwen := comes(t, r, l, "Gwen", time.Minute)
	again := replayed(t, house(), l)
	for _, p := range []participants.Participant{dora, emil, fred, gwen} {
		if q, ok := again.Find(p.Name); !ok || q.ID != p.ID {
			t.Errorf("after a restart %s is %+v", p.Name, q)
		}
	}
	if is, was := len(again.Known()), len(r.Known()); is != was {
		t.Errorf("after a restart %d are known of %d", is, was)
	}
	for day := range 200 { // one new name a day
		l.now = l.now.Add(25 * time.Hour)
		claim(t, r, invented(20000+day))
	}
	if known := len(r.Known()); known > 120 {
		t.Errorf("after days %d people are known", known)
	}
	if q := claim(t, r, "Emil"); q.ID != emil.ID {
		t.Error("Emil is somebody else now")
	}
}

// continued returns a registry that continues from a copy of a ledger.
func continued(t testing.TB, was *participants.Registry, l *ledger) (*participants.Registry, *ledger) {
	t.Helper()
	r, next := open(t, house())
	next.now, next.n, next.changes = l.now, l.n, slices.Clone(l.changes)
	for _, a := range l.changes {
		r.Apply(a)
	}
	if len(r.Known()) != len(was.Known()) {
		t.Errorf("%d are known, and then %d", len(was.Known()), len(r.Known()))
	}
	return r, next
}

// TestAFloodWithinAMinute: people who come in the middle of a flood of names get in, and stay
// known.
func TestAFloodWithinAMinute(t *testing.T) {
	r, l := open(t, house())
	for n := range 1500 {
		l.now = l.now.Add(time.Millisecond)
		if _, err := r.Claim(t.Context(), other, invented(n), nil); err != nil {
			t.Fatalf("name %d is refused: %v", n, err)
		}
	}
	dora := claim(t, r, "Dora")
	for n := range 500 {
		l.now = l.now.Add(time.Millisecond)
		claim(t, r, invented(5000+n))
	}
	if q := claim(t, r, "Dora"); q.ID != dora.ID {
		t.Error("who came a moment ago is somebody else now")
	}
}

// TestANameOfNobodyIsFreeAgain: a name that was given once blocks similar ones for an hour. The
// name of somebody who is here, has come again, has a token, was named by the owner, was merged
// with somebody, has a voice or is in the configuration stays blocked.
func TestANameOfNobodyIsFreeAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		real  func(t *testing.T, r *participants.Registry, l *ledger, p participants.Participant)
		after time.Duration
		free  bool
	}{
		{"at once", nil, 0, false},
		{"after a while", nil, 2 * time.Hour, true},
		{"here", func(_ *testing.T, r *participants.Registry, _ *ledger, p participants.Participant) {
			r.Attach(participants.Session{ID: "s", Participant: p.ID, Account: other})
		}, 2 * time.Hour, false},
		{"come again", func(t *testing.T, r *participants.Registry, l *ledger, p participants.Participant) {
			l.now = l.now.Add(90 * time.Minute)
			claim(t, r, p.Name)
		}, 100 * time.Hour, false},
		{"said twice at once", func(t *testing.T, r *participants.Registry, _ *ledger, p participants.Participant) {
			claim(t, r, p.Name)
		}, 2 * time.Hour, true},
		{"called so by the owner", func(t *testing.T, r *participants.Registry, _ *ledger, p participants.Participant) {
			if err := r.Rename(t.Context(), r.Resolve(console), p.ID, "Zoë"); err != nil {
				t.Fatal(err)
			}
		}, 2 * time.Hour, false},
		{"two in one", func(t *testing.T, r *participants.Registry, _ *ledger, p participants.Participant) {
			if err := r.Merge(t.Context(), r.Resolve(console), "bob", p.ID); err != nil {
				t.Fatal(err)
			}
		}, 2 * time.Hour, false},
	} {
		r, l := open(t, house())
		p := claim(t, r, "Zoé")
		if tt.real != nil {
			tt.real(t, r, l, p)
		}
		l.now = l.now.Add(tt.after)
		q, err := r.Claim(t.Context(), other, "Zoe", nil)
		if tt.free != (err == nil && q.ID != p.ID) || err != nil && !errors.Is(err, participants.ErrTaken) {
			t.Errorf("%s: Zoe is %+v, %v", tt.name, q, err)
		}
		if again := replayed(t, house(), l); again.Name(p.ID) != r.Name(p.ID) {
			t.Errorf("%s: after a restart they are %q", tt.name, again.Name(p.ID))
		}
	}
}

// TestWhoHasATokenStays: the name of somebody whom Keeps keeps, such as by a token, stays blocked.
func TestWhoHasATokenStays(t *testing.T) {
	l := &ledger{now: time.Unix(1.7e9, 0)}
	var kept earshot.ParticipantID
	r, err := participants.Open(participants.Setup{
		Account: console, AccountName: "annika", Actors: house(), Record: l.record, NewID: l.newID, Now: func() time.Time { return l.now },
		Keeps: func(id earshot.ParticipantID) bool { return id == kept },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := claim(t, r, "Zoé")
	kept, l.now = p.ID, l.now.Add(48*time.Hour)
	if q, err := r.Claim(t.Context(), other, "Zoe", nil); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("Zoe is %+v, %v", q, err)
	}
}

// TestWhoWasKnownBeforeThisVersion: people recorded by earlier versions stay, since no record says
// that they came only once.
func TestWhoWasKnownBeforeThisVersion(t *testing.T) {
	r, l := open(t, house())
	r.Apply(earshot.Actor{Act: earshot.Created, Participant: "p_0", Name: "Zoé", Type: "human"})
	l.now = l.now.Add(1000 * time.Hour)
	if q, err := r.Claim(t.Context(), other, "Zoe", nil); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("Zoe is %+v, %v", q, err)
	}
}
