package console

import (
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/internal/terminal"
)

// TestTwice: a second ^C leaves if it comes within two seconds and no reply has begun in between
// that it could stop.
func TestTwice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		busy  bool
		want  keyEffect
	}{
		{"at once", 0, false, keyEffect{over: true}},
		{"just in time", twice - 1, false, keyEffect{over: true}},
		{"too late", twice, false, keyEffect{hint: howToLeave}},
		{"while a reply has begun", time.Second, true, keyEffect{say: nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s session
			now := time.Unix(0, 0)
			ctrlC := terminal.Key{Does: terminal.Interrupt}
			if d := s.step(now, ctrlC, false); d.hint != howToLeave || d.over {
				t.Fatalf("the first did %+v", d)
			}
			d := s.step(now.Add(tt.after), ctrlC, tt.busy)
			if d.over != tt.want.over || d.hint != tt.want.hint || len(d.say) > 0 != tt.busy {
				t.Errorf("the second did %+v", d)
			}
		})
	}
}

// TestTypesOn: while somebody types on, the room is told so again from time to time, but not with
// each key. Without keys it is told nothing.
func TestTypesOn(t *testing.T) {
	var s session
	for _, tt := range []struct {
		second int
		key    terminal.Key
		want   []earshot.Body
	}{
		{0, insert("a"), []earshot.Body{earshot.Typing{Began: true}}},
		{9, insert("b"), nil},
		{10, insert("c"), []earshot.Body{earshot.Typing{Began: true}}},
		{19, terminal.Key{Does: terminal.Left}, nil},
		{300, terminal.Key{Does: terminal.Left}, []earshot.Body{earshot.Typing{Began: true}}},
		{301, terminal.Key{Does: terminal.Interrupt}, []earshot.Body{earshot.Typing{}}},
		{400, terminal.Key{Does: terminal.Left}, nil},
	} {
		d := s.step(time.Unix(int64(tt.second), 0), tt.key, false)
		if !slices.Equal(d.say, tt.want) {
			t.Errorf("after %d s the room is told %v, want %v", tt.second, d.say, tt.want)
		}
	}
}

func insert(text string) terminal.Key { return terminal.Key{Does: terminal.Insert, Text: text} }
