package room

import (
	"testing"
	"time"

	"earshot"
)

// TestStir: who types or speaks is known from the first key and the first sound until
// they send it, leave it, leave, or are not heard any more.
func TestStir(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	key := earshot.Typing{Began: true}
	voice := earshot.Speech{Stage: earshot.VoiceBegan}
	for _, tt := range []struct {
		name   string
		events []earshot.Body // one a second
		types  bool
		heard  time.Duration // ago, at the end; -1 for never
		stills bool          // the last of them made somebody still
	}{
		{"nothing", nil, false, -1, false},
		{"a key", []earshot.Body{key}, true, -1, false},
		{"and all deleted", []earshot.Body{key, earshot.Typing{}}, false, -1, true},
		{"and gone", []earshot.Body{key, earshot.Presence{}}, false, -1, true},
		{"and sent", []earshot.Body{key, earshot.Message{Text: "x"}}, false, time.Second, false},
		{"a voice", []earshot.Body{voice}, false, 0, false},
		{"a cough", []earshot.Body{voice, earshot.Speech{Stage: earshot.VoiceOver}}, false, -1, true},
		{"words", []earshot.Body{voice, earshot.Utterance{Text: "x"}}, false, time.Second, false},
		{"nothing more of it", []earshot.Body{voice, nil, nil, nil, nil, nil, nil, nil, nil, nil}, false, -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s stir
			now, stills := noon, false
			for _, body := range tt.events {
				if body != nil {
					stills = s.note(earshot.Event{From: earshot.Handle{Provider: "console", ID: "ann"}, Body: body}, now)
				}
				now = now.Add(time.Second)
			}
			types, heard := s.is(now)
			want := now.Add(-tt.heard)
			if tt.heard < 0 {
				want = time.Time{}
			}
			if types != tt.types || !heard.Equal(want) || stills != tt.stills {
				t.Errorf("types %v, heard at %v, made still %v", types, heard, stills)
			}
		})
	}
}
