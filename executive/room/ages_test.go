package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
)

// TestHowLongAgo: a model is told how long ago each line of the dialogue was said, in steps that
// grow, and only where the step differs from that of the line before.
func TestHowLongAgo(t *testing.T) {
	type pause struct {
		says string
		then time.Duration
	}
	for _, tt := range []struct {
		name   string
		pauses []pause
		want   string
	}{
		{"at once", []pause{{"a", 20 * time.Second}, {"b", 30 * time.Second}}, "a|.|b|.|now?"},
		{"minutes", []pause{{"a", 6 * time.Minute}, {"b", time.Second}}, "(a few minutes ago)|a|.|(just now)|b|.|now?"},
		{"an hour", []pause{{"a", time.Minute}, {"b", time.Hour}}, "(about an hour ago)|a|.|b|.|(just now)|now?"},
		{"all of them", []pause{{"a", 9 * 24 * time.Hour}, {"b", 2 * 24 * time.Hour}, {"c", 24 * time.Hour}, {"d", 8 * time.Hour}, {"e", 3 * time.Hour}, {"f", 25 * time.Minute}, {"g", 10 * time.Minute}},
			"(more than a week ago)|a|.|(3 days ago)|b|.|(yesterday)|c|.|(earlier today)|d|.|(some hours ago)|e|.|(about half an hour ago)|f|.|(a few minutes ago)|g|.|(just now)|now?"},
		{"the same night", []pause{{"a", 14 * time.Hour}}, "(earlier today)|a|.|(just now)|now?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2000, 1, 2, 6, 0, 0, 0, time.Local)))
				h := newHouse()
				h.model.Reply = "."
				h.open(t.Context())
				for _, p := range tt.pauses {
					h.say(t, p.says)
					time.Sleep(p.then)
				}
				h.say(t, "now?")
				time.Sleep(time.Second)
				h.stop()
				got := strings.NewReplacer("[FROM: ann] ", "", "[FROM: System] What follows is from ", "(", " ago.", " ago)", "today.", "today)", "yesterday.", "yesterday)", "just now.", "just now)").Replace(h.dialogue())
				if got != tt.want {
					t.Errorf("the model reads\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

// TestWhatAServerKeeps: a prompt grows only at its end, so that a server can keep the beginning,
// which changes at most once in five minutes.
func TestWhatAServerKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = "."
		h.open(t.Context())
		for range 20 {
			h.say(t, "hello")
			time.Sleep(time.Minute)
		}
		h.stop()
		var before []llm.Message
		anew := 0
		for _, req := range h.model.Seen() {
			now := req.Messages[:len(req.Messages)-1]
			if len(now) < len(before) || !slices.EqualFunc(before, now[:len(before)], func(a, b llm.Message) bool { return a.Text == b.Text }) {
				anew++
			}
			before = now
		}
		if anew < 2 || anew > 4 {
			t.Errorf("in 20 minutes it was another one %d times", anew)
		}
	})
}
