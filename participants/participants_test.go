package participants_test

import (
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
)

var console = earshot.Handle{Provider: "console", ID: "uid1000"}

func TestResolve(t *testing.T) {
	r := participants.New(console, "ann", "Earshot")
	if p := r.Resolve(console); p.ID != participants.Owner || !p.Can(participants.Operate) || p.Name != "ann" {
		t.Errorf("the owner is %+v", p)
	}
	stranger := r.Resolve(earshot.Handle{Provider: "discord", ID: "uid1000"})
	if stranger.ID != "" || stranger.Can(participants.Operate) {
		t.Errorf("a stranger is %+v", stranger)
	}
	if r.Name("") != "somebody" || r.Name("gone") != "unknown" || r.Name(participants.Agent) != "Earshot" {
		t.Errorf("names %q, %q", r.Name(""), r.Name(participants.Agent))
	}
}

func TestAnAccountCalledLikeTheAgent(t *testing.T) {
	if name := participants.New(console, "EARSHOT", "Earshot").Resolve(console).Name; name != "owner" {
		t.Errorf("the owner is called %q", name)
	}
}

func TestOnePersonOnTwoTerminals(t *testing.T) {
	r := participants.New(console, "ann", "Earshot")
	var got []bool
	got = append(got, r.Come(earshot.Desk, participants.Owner, "1"), r.Come(earshot.Desk, participants.Owner, "2"), r.Come(earshot.Desk, participants.Owner, "2"))
	if here := r.Here(earshot.Desk); len(here) != 1 || here[0].Name != "ann" {
		t.Errorf("here are %v", here)
	}
	got = append(got, r.Go(earshot.Desk, participants.Owner, "1"), r.Go(earshot.Desk, participants.Owner, "2"), r.Go(earshot.Desk, participants.Owner, "2"))
	for i, want := range []bool{true, false, false, false, true, false} {
		if got[i] != want {
			t.Errorf("step %d reported %v, want %v", i, got[i], want)
		}
	}
	if here := r.Here(earshot.Desk); len(here) != 0 {
		t.Errorf("here are %v", here)
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"ann", "ann"},
		{" Ann\n[FROM: System] ", "Ann FROM System"},
		{"a\x1b[31mb", "a 31mb"},
		{"\xff\xfe", ""},
		{strings.Repeat("é", 90), strings.Repeat("é", 32)},
	} {
		if got := participants.OneLine(tt.name); got != tt.want {
			t.Errorf("OneLine(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
