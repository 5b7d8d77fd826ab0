package calls

import (
	"testing"
	"time"

	"earshot/internal/audio"
)

// TestCrowdForgets: nothing is kept about people who have not spoken for long.
func TestCrowdForgets(t *testing.T) {
	var c overlapTracker
	for user := range uint64(1000) {
		c.speaks(user, time.Unix(1000, 0).Add(time.Duration(user)*time.Minute), audio.Time)
	}
	if len(c.spoke) > 4 {
		t.Errorf("it remembers %d people", len(c.spoke))
	}
}

// TestCrowd: one character for 100 ms. first and second are two voices; want tells whether what the
// first says in the stretch marked with = overlaps.
func TestCrowd(t *testing.T) {
	for _, tt := range []struct {
		name, first, second, of string
		want                    bool
	}{
		{"one after the other", "####....", "....####", "====....", false},
		{"beside each other", "####....", "..####..", "====....", true},
		{"a click", "####....", "..#.....", "====....", false},
		{"the end of it", "####....", "...####.", "====....", false},
		{"within", "########", "...##...", "========", true},
		{"two clicks", "##########", ".#......#.", "==========", true},
		{"alone", "########", "........", "========", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c overlapTracker
			began := time.Unix(1000, 0)
			var from, to time.Time
			for i := range tt.of {
				for n := range 5 {
					at := began.Add(time.Duration(5*i+n) * audio.Time)
					for user, voice := range []string{tt.first, tt.second} {
						if voice[i] == '#' {
							c.speaks(uint64(user), at, audio.Time)
						}
					}
					if tt.of[i] == '=' {
						if from.IsZero() {
							from = at
						}
						to = at.Add(audio.Time)
					}
				}
			}
			if got := c.overlaps(0, from, to); got != tt.want {
				t.Errorf("overlaps: %v", got)
			}
			c.forget(1)
			if c.overlaps(0, from, to) {
				t.Error("who is forgotten still spoke")
			}
		})
	}
}
