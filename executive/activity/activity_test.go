package activity

import (
	"testing"
	"time"

	"earshot"
)

// TestStir: somebody counts as typing or speaking from the first key or sound until they send the
// line, leave it, leave the room, or are not heard any more.
func TestStir(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	key := earshot.Typing{Began: true}
	voice := earshot.Speech{Stage: earshot.VoiceBegan}
	for _, tt := range []struct {
		name   string
		events []earshot.Body // one a second
		types  bool
		heard  time.Duration // ago, at the end; -1 for never
		turns  bool          // somebody began or stopped typing, or fell silent, with the last of them
	}{
		{"nothing", nil, false, -1, false},
		{"a key", []earshot.Body{key}, true, -1, true},
		{"and another", []earshot.Body{key, key}, true, -1, false},
		{"and all deleted", []earshot.Body{key, earshot.Typing{}}, false, -1, true},
		{"and gone", []earshot.Body{key, earshot.Presence{}}, false, -1, true},
		{"and sent", []earshot.Body{key, earshot.Message{Text: "x"}}, false, time.Second, false},
		{"a voice", []earshot.Body{voice}, false, 0, false},
		{"a cough", []earshot.Body{voice, earshot.Speech{Stage: earshot.VoiceOver}}, false, -1, true},
		{"words", []earshot.Body{voice, earshot.Utterance{Text: "x"}}, false, time.Second, false},
		{"nothing more of it", []earshot.Body{voice, nil, nil, nil, nil, nil, nil, nil, nil, nil}, false, -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Tracker
			now, turns := noon, false
			for _, body := range tt.events {
				if body != nil {
					turns = s.Note(earshot.Event{From: earshot.Handle{Provider: "console", ID: "ann"}, Body: body}, now)
				}
				now = now.Add(time.Second)
			}
			types, heard, others := s.Recent(now, func(h earshot.Handle) bool { return h.ID == "ann" })
			if _, _, all := s.Recent(now, func(h earshot.Handle) bool { return h.ID == "bob" }); !others.IsZero() || !all.Equal(heard) {
				t.Errorf("others than ann were heard at %v, and than bob at %v", others, all)
			}
			want := now.Add(-tt.heard)
			if tt.heard < 0 {
				want = time.Time{}
			}
			if types != tt.types || !heard.Equal(want) || turns != tt.turns {
				t.Errorf("types %v, heard at %v, turns %v", types, heard, turns)
			}
		})
	}
}

// TestALineThatIsLeft: a line counts for two minutes after its last key, and again from the next
// one; somebody else's line counts for itself.
func TestALineThatIsLeft(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	key := func(who string) earshot.Event {
		return earshot.Event{From: earshot.Handle{Provider: "console", ID: who}, Body: earshot.Typing{Began: true}}
	}
	var s Tracker
	for _, tt := range []struct {
		second int
		key    string // who presses one
		types  bool
		gone   int // how many have left since
	}{
		{0, "ann", true, 0}, {60, "", true, 0}, {100, "ann", true, 0}, {219, "", true, 0}, {220, "", false, 1},
		{300, "ann", true, 0}, {310, "bob", true, 0}, {420, "", true, 1}, {430, "", false, 1}, {9999, "", false, 0},
	} {
		now, gone := at(tt.second), 0
		if tt.key != "" {
			s.Note(key(tt.key), now)
		}
		due := s.NextTypingExpiry()
		types, _, _ := s.Recent(now, func(earshot.Handle) bool { return false })
		about, _ := s.About(now)
		s.ExpireTyping(now, func(Terminal) { gone++ })
		if types != tt.types || about != tt.types || gone != tt.gone {
			t.Errorf("after %d s: types %v, %d have left; want %v, %d", tt.second, types, gone, tt.types, tt.gone)
		}
		if waits := !due.IsZero() && due.After(now); !due.IsZero() && waits == (gone > 0) {
			t.Errorf("after %d s: it is looked again at %v", tt.second, due)
		}
	}
}
