package room

import (
	"strings"
	"testing"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reflex"
)

func TestDecide(t *testing.T) {
	alone := decisionInput{enabled: true, known: true, heeded: true, aim: addressing.Addressees{Mine: true, Why: addressing.Alone}}
	with := func(change func(*decisionInput)) decisionInput { s := alone; change(&s); return s }
	called := addressing.Addressees{Mine: true, Named: true, Why: addressing.Named}
	for _, tt := range []struct {
		name   string
		s      decisionInput
		want   earshot.Verdict
		reason string
	}{
		{"alone", alone, earshot.Speak, addressing.Alone},
		{"among others", with(func(s *decisionInput) { s.aim = addressing.Addressees{Why: addressing.Elsewhere} }), earshot.Silent, addressing.Elsewhere},
		{"to others", with(func(s *decisionInput) { s.aim = addressing.Addressees{Why: addressing.ToOthers} }), earshot.Silent, addressing.ToOthers},
		{"called among others", with(func(s *decisionInput) { s.aim = called }), earshot.Speak, addressing.Named},
		{"called by somebody who is not heeded", with(func(s *decisionInput) { s.aim, s.heeded = called, false }), earshot.Silent, Unheeded},
		{"a stranger who calls", with(func(s *decisionInput) { s.aim, s.known = called, false }), earshot.Silent, Stranger},
		{"stop", with(func(s *decisionInput) { s.want = reflex.Stop }), earshot.Silent, Commanded},
		{"hushed", with(func(s *decisionInput) { s.quiet = true }), earshot.Silent, Hushed},
		{"hushed, and asked back", with(func(s *decisionInput) { s.quiet, s.want = true, reflex.Wake }), earshot.Speak, addressing.Alone},
		{"hushed, and called", with(func(s *decisionInput) { s.quiet, s.aim = true, called }), earshot.Speak, addressing.Named},
		{"hushed, and followed up aloud", with(func(s *decisionInput) { s.quiet, s.to, s.aim = true, conversation.Following, addressing.Addressees{} }), earshot.Silent, Hushed},
		{"told not now", with(func(s *decisionInput) { s.refuses = true }), earshot.Silent, attention.ToldNo},
		{"called, and told not now", with(func(s *decisionInput) { s.refuses, s.aim = true, called }), earshot.Silent, attention.ToldNo},
		{"called long ago", with(func(s *decisionInput) { s.aim, s.late = called, true }), earshot.Silent, Late},
		{"switched off", with(func(s *decisionInput) { s.enabled = false }), earshot.Silent, Disabled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict, reasons := decide(tt.s)
			if verdict != tt.want || strings.Join(reasons, " ") != tt.reason {
				t.Errorf("decided %v because %v, want %v because %v", verdict, reasons, tt.want, tt.reason)
			}
		})
	}
}

func TestBegins(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"Earshot what time is it", "Earshot", true},
		{" earshot", "Earshot", true},
		{"earshots are loud", "Earshot", false},
		{"Earshot's configuration is broken", "Earshot", false},
		{"I asked earshot about it yesterday", "Earshot", false},
		{"old friend come", "Old Friend", true},
		{"ear", "Earshot", false}, {"", "Earshot", false}, {"", "", false},
	} {
		if got := addressing.BeginsWithName(earshot.Text(tt.text), tt.name); got != tt.want {
			t.Errorf("begins(%q, %q) = %v", tt.text, tt.name, got)
		}
	}
}
