package decision

import (
	"strings"
	"testing"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/executive/reflex"
)

func TestDecide(t *testing.T) {
	alone := Input{Enabled: true, Known: true, Heeded: true, Addressees: addressing.Addressees{Mine: true, Why: addressing.Alone}}
	with := func(change func(*Input)) Input { s := alone; change(&s); return s }
	called := addressing.Addressees{Mine: true, Named: true, Why: addressing.Named}
	for _, tt := range []struct {
		name   string
		s      Input
		want   earshot.Verdict
		reason string
	}{
		{"alone", alone, earshot.Speak, addressing.Alone},
		{"among others", with(func(s *Input) { s.Addressees = addressing.Addressees{Why: addressing.Elsewhere} }), earshot.Silent, addressing.Elsewhere},
		{"to others", with(func(s *Input) { s.Addressees = addressing.Addressees{Why: addressing.ToOthers} }), earshot.Silent, addressing.ToOthers},
		{"called among others", with(func(s *Input) { s.Addressees = called }), earshot.Speak, addressing.Named},
		{"called by somebody who is not heeded", with(func(s *Input) { s.Addressees, s.Heeded = called, false }), earshot.Silent, reason.Unheeded},
		{"a stranger who calls", with(func(s *Input) { s.Addressees, s.Known = called, false }), earshot.Silent, reason.Stranger},
		{"stop", with(func(s *Input) { s.Want = reflex.Stop }), earshot.Silent, reason.Commanded},
		{"hushed", with(func(s *Input) { s.Quiet = true }), earshot.Silent, reason.Hushed},
		{"hushed, and asked back", with(func(s *Input) { s.Quiet, s.Want = true, reflex.Wake }), earshot.Speak, addressing.Alone},
		{"hushed, and called", with(func(s *Input) { s.Quiet, s.Addressees = true, called }), earshot.Speak, addressing.Named},
		{"hushed, and followed up aloud", with(func(s *Input) { s.Quiet, s.To, s.Addressees = true, conversation.Following, addressing.Addressees{} }), earshot.Silent, reason.Hushed},
		{"told not now", with(func(s *Input) { s.Refuses = true }), earshot.Silent, attention.ToldNo},
		{"called, and told not now", with(func(s *Input) { s.Refuses, s.Addressees = true, called }), earshot.Silent, attention.ToldNo},
		{"called long ago", with(func(s *Input) { s.Addressees, s.Late = called, true }), earshot.Silent, reason.Late},
		{"switched off", with(func(s *Input) { s.Enabled = false }), earshot.Silent, reason.Disabled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict, reasons := Decide(tt.s)
			if verdict != tt.want || strings.Join(reasons, " ") != tt.reason {
				t.Errorf("decided %v because %v, want %v because %v", verdict, reasons, tt.want, tt.reason)
			}
		})
	}
}
