package admin

import (
	"testing"
	"time"

	"earshot"
	"earshot/api"
)

// TestListening: during an enrolment people are told how much speech has been heard, and of which
// voice.
func TestListening(t *testing.T) {
	voice := func(n int, spoken time.Duration) api.VoiceInfo {
		h := earshot.Handle{Provider: "voice", ID: string(rune('0' + n))}
		return api.VoiceInfo{Handle: h, Number: n, Spoken: spoken, Heard: spoken, Called: "voice " + h.ID}
	}
	l := Enrolment{Need: 12 * time.Second}
	for _, tt := range []struct {
		name   string
		list   []api.VoiceInfo
		line   string
		enough string
	}{
		{"before", []api.VoiceInfo{voice(1, 30*time.Second)}, "", ""},
		{"nobody yet", []api.VoiceInfo{voice(1, 30*time.Second)}, "", ""},
		{"begun", []api.VoiceInfo{voice(1, 34*time.Second)}, "voice 1: 4 of 12 s", ""},
		{"the same", []api.VoiceInfo{voice(1, 34*time.Second)}, "", ""},
		{"another", []api.VoiceInfo{voice(1, 34*time.Second), voice(2, 5*time.Second)}, "voice 2: 5 of 12 s (1 voice besides)", ""},
		{"enough", []api.VoiceInfo{voice(1, 47*time.Second), voice(2, 5*time.Second)}, "voice 1: 12 of 12 s (1 voice besides)", "voice:1"},
	} {
		line, enough := l.Step(tt.list)
		if line != tt.line || enough.ID != "" != (tt.enough != "") || enough.ID != "" && enough.String() != tt.enough {
			t.Errorf("%s: %q and %v, want %q and %q", tt.name, line, enough, tt.line, tt.enough)
		}
	}
}
