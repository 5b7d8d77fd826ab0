package participants_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

// TestIntroduceKeepsTheName: while an agent is being recorded it is not there yet, and nobody else
// can take its name. A failure to record it changes nothing.
func TestIntroduceKeepsTheName(t *testing.T) {
	r, _ := open(t, house())
	full := errors.New("the disk is full")
	agent := participants.Participant{ID: "a1", Name: "Ranger", Description: "walks"}
	version := r.Version()
	err := r.Introduce(t.Context(), agent, func() error {
		if _, found := r.Find("Ranger"); found {
			t.Error("it is there already")
		}
		return full
	})
	if _, known := r.Get("a1"); !errors.Is(err, full) || known || r.Name("a1") != "unknown" {
		t.Errorf("what was not recorded is there: %v", err)
	}
	claim(t, r, "Ranger")
	if err := r.Introduce(t.Context(), agent, kept); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("it takes somebody's name: %v", err)
	}
	agent.Name = "Scribe"
	if err := r.Introduce(t.Context(), agent, kept); err != nil || r.Version() == version {
		t.Error(err)
	}
	if p, ok := r.Find("scribe"); !ok || p.Description != "walks" || p.Type != participants.Internal {
		t.Errorf("found %+v", p)
	}
}

// TestRedescribe: an agent has its new name once that has been recorded. Until then it keeps the
// old one, and both are reserved.
func TestRedescribe(t *testing.T) {
	r, _ := open(t, house())
	if err := r.Introduce(t.Context(), participants.Participant{ID: "a1", Name: "Ranger"}, kept); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	again := func(id earshot.ParticipantID, name string, keep func() error) error {
		return r.Redescribe(t.Context(), participants.Participant{ID: id, Name: name, Description: "writes"}, keep)
	}
	for _, tt := range []struct {
		id   earshot.ParticipantID
		name string
		keep func() error
		err  error
		is   string
	}{
		{"a1", "Bob", kept, participants.ErrTaken, "Ranger"},
		{"a1", "Sc0ut", kept, participants.ErrReserved, "Ranger"},
		{"a1", "all", kept, participants.ErrName, "Ranger"},
		{"a1", "Scribe", func() error { return full }, full, "Ranger"},
		{"nobody", "Scribe", kept, participants.ErrUnknown, "Ranger"},
		{"bob", "Scribe", kept, participants.ErrUnknown, "Ranger"},
		{"a1", "RANGER", kept, nil, "RANGER"},
		{"a1", "Scribe", kept, nil, "Scribe"},
	} {
		if err := again(tt.id, tt.name, tt.keep); !errors.Is(err, tt.err) || r.Name("a1") != tt.is {
			t.Errorf("%s %q: %v, and is called %q", tt.id, tt.name, err, r.Name("a1"))
		}
		if p, ok := r.Find(tt.is); !ok || p.ID != "a1" {
			t.Errorf("%q finds %+v", tt.is, p)
		}
	}
	if p, _ := r.Get("a1"); p.Description != "writes" {
		t.Errorf("it is %+v", p)
	}
	claim(t, r, "Ranger")
}

// TestUsername: an agent is found by its username, which is as reserved as its name is, and gone with it.
func TestUsername(t *testing.T) {
	r, _ := open(t, house())
	full := errors.New("the disk is full")
	a1 := participants.Participant{ID: "a1", Name: "Ranger", Username: "wald-läufer"}
	if err := r.Introduce(t.Context(), a1, func() error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := r.Introduce(t.Context(), participants.Participant{ID: "a1", Name: "Ranger", Username: "Bob"}, kept); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("it is called like Bob: %v", err)
	}
	if err := r.Introduce(t.Context(), a1, kept); err != nil {
		t.Fatal(err)
	}
	finds := func(name string, want earshot.ParticipantID) {
		t.Helper()
		if p, ok := r.Find(name); p.ID != want || ok != (want != "") {
			t.Errorf("%q finds %+v", name, p)
		}
	}
	finds("Wald-Läufer", "a1")
	finds("ranger", "a1")
	for _, name := range []string{"WALD-LÄUFER", "wald läufer"} {
		if err := r.Introduce(t.Context(), participants.Participant{ID: "a2", Name: name}, kept); !errors.Is(err, participants.ErrReserved) {
			t.Errorf("another agent is %q: %v", name, err)
		}
	}
	for _, name := range []string{"WALD-LÄUFER", "wald läufer", "waldläufe", "Ranger"} {
		if _, err := r.Claim(t.Context(), earshot.Handle{Provider: "console", ID: "uid7"}, name, nil); err == nil {
			t.Errorf("somebody is %q", name)
		}
	}
	a1.Username = "Läufer"
	if err := r.Redescribe(t.Context(), a1, func() error { finds("wald-läufer", "a1"); return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	finds("wald-läufer", "a1")
	finds("läufer", "")
	if err := r.Redescribe(t.Context(), a1, kept); err != nil {
		t.Error(err)
	}
	finds("läufer", "a1")
	finds("ranger", "a1")
	finds("wald-läufer", "")
	r.Dismiss("a1")
	finds("läufer", "")
	if err := r.Introduce(t.Context(), participants.Participant{ID: "a2", Name: "Läufer"}, func() error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := r.Introduce(t.Context(), participants.Participant{ID: "a2", Name: "Scribe", Username: "läufer"}, kept); err != nil {
		t.Errorf("the username of an agent that has ended: %v", err)
	}
	finds("läufer", "a2")
	finds("ranger", "")
}

// TestHandles: a person's handles are only those recorded for them, and for anybody merged into
// them.
func TestHandles(t *testing.T) {
	setup := house()
	setup.Actors = append(setup.Actors, participants.Actor{ID: "zed", Type: participants.Human, DisplayName: "Zed", Handles: []string{"discord:7", "matrix:z"}})
	r, _ := open(t, setup)
	shown := func(id earshot.ParticipantID) string {
		var all []string
		for _, h := range r.Handles(id) {
			all = append(all, h.String())
		}
		return strings.Join(all, " ")
	}
	if got := shown("zed"); got != "discord:7 matrix:z" {
		t.Errorf("zed is known as %s", got)
	}
	if got := shown("nobody") + shown(""); got != "" {
		t.Errorf("nobody is known as %s", got)
	}
	r.Apply(earshot.Actor{Act: earshot.Merged, Participant: "zed", Into: "bob"})
	if got := shown("bob"); !strings.Contains(got, "discord:7") {
		t.Errorf("bob, who is zed, is known as %s", got)
	}
}

// TestLabel: names of those who are not in the registry are looked up through Label.
func TestLabel(t *testing.T) {
	setup := participants.Setup{Account: console, Actors: house()}
	setup.Label = func(id earshot.ParticipantID) string {
		if id == "sub" {
			return "Coder's helper 0"
		}
		return ""
	}
	r, err := participants.Open(setup)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Name("sub") + ", " + r.Name("x") + ", " + r.Name("bob") + ", " + r.Name("guest_1"); got != "Coder's helper 0, unknown, Bob, a guest" {
		t.Errorf("they are called %s", got)
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Coder", "CODER", true}, {"Coder", "C0der", true}, {"AI", "Al", true}, {"Coder", "Coders", false}, {"Ann", "Anna", false},
	} {
		if participants.Near(tt.a, tt.b) != tt.want || participants.Near(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: not %v", tt.a, tt.b, tt.want)
		}
	}
}

func TestCheckWord(t *testing.T) {
	for _, tt := range []struct{ word, want, problem string }{
		{"owner", "owner", ""}, {"Ann", "ann", ""}, {"ＡＮＮ", "ann", ""}, {"42", "42", ""}, {"a.b_c-d", "a.b_c-d", ""}, {"Ζωή", "ζωή", ""}, {"Straße", "strasse", ""},
		{"", "", "is empty"}, {"a b", "", "has ' ' in it"}, {"-a", "", "must begin and end"}, {"a/b", "", "has '/' in it"}, {"\xff", "", "is not text"},
		{"аnn", "", "more than one script"}, {strings.Repeat("a", 65), "", "has 65 bytes"}, {strings.Repeat("a", 9999), "", "has 9999 bytes"}, {"a\u200db", "", "in it"}, {"\u0301a", "", "must begin"},
	} {
		got, err := participants.CheckWord(tt.word)
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && (!errors.Is(err, participants.ErrName) || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q is %q, %v", tt.word, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.String().Draw(t, "word")
		got, err := participants.CheckWord(word)
		if err != nil {
			return
		}
		if again, err := participants.CheckWord(got); err != nil || again != got {
			t.Fatalf("%q is %q, and that is %q, %v", word, got, again, err)
		}
		if slices.ContainsFunc([]rune(got), func(r rune) bool { return r == '/' || r == ' ' || r == '\\' }) {
			t.Fatalf("%q is %q", word, got)
		}
	})
}
