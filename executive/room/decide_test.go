package room

import (
	"strings"
	"testing"

	"earshot"
	"earshot/executive/reflex"
)

func TestDecide(t *testing.T) {
	alone := scenario{enabled: true, known: true, people: 1}
	with := func(change func(*scenario)) scenario { s := alone; change(&s); return s }
	for _, tt := range []struct {
		name   string
		s      scenario
		want   earshot.Verdict
		reason string
	}{
		{"alone", alone, earshot.Speak, Alone},
		{"nobody has come yet", with(func(s *scenario) { s.people = 0 }), earshot.Speak, Alone},
		{"among others", with(func(s *scenario) { s.people = 3 }), earshot.Silent, Elsewhere},
		{"called among others", with(func(s *scenario) { s.people, s.named = 3, true }), earshot.Speak, Named},
		{"a stranger who calls", with(func(s *scenario) { s.known, s.named = false, true }), earshot.Silent, Stranger},
		{"stop", with(func(s *scenario) { s.want = reflex.Stop }), earshot.Silent, Commanded},
		{"hushed", with(func(s *scenario) { s.quiet = true }), earshot.Silent, Hushed},
		{"hushed, and asked back", with(func(s *scenario) { s.quiet, s.want = true, reflex.Wake }), earshot.Speak, Alone},
		{"hushed, and called", with(func(s *scenario) { s.quiet, s.named = true, true }), earshot.Speak, Named},
		{"switched off", with(func(s *scenario) { s.enabled = false }), earshot.Silent, Disabled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict, reasons := decide(tt.s)
			if verdict != tt.want || strings.Join(reasons, " ") != tt.reason {
				t.Errorf("decided %v because %v, want %v because %v", verdict, reasons, tt.want, tt.reason)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"Earshot, hello", "Earshot", true},
		{"hello earshot!", "Earshot", true},
		{"within earshots", "Earshot", false},
		{"dear old friend, come", "Old Friend", true},
		{"", "Earshot", false},
	} {
		if got := named(earshot.Text(tt.text), tt.name); got != tt.want {
			t.Errorf("named(%q, %q) = %v", tt.text, tt.name, got)
		}
	}
}
