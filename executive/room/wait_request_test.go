package room_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAMoment: somebody who asks for a moment is not answered, may take longer than the time for a
// follow-up, and goes on without calling the agent again.
func TestAMoment(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		after      time.Duration
		want       int // replies
	}{
		{"goes on", "hold on", 20 * time.Second, 2},
		{"goes on without that", "i see", 20 * time.Second, 2}, // the second reply is to that
		{"takes too long", "one moment please", 40 * time.Second, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				h.says(t, "earshot count")
				time.Sleep(3 * time.Second)
				h.says(t, tt.says)
				time.Sleep(tt.after)
				h.says(t, "and once more please")
				time.Sleep(time.Minute)
				h.stop()
				if n := len(h.replies()); n != tt.want {
					t.Errorf("%d replies, want %d", n, tt.want)
				}
			})
		})
	}
}

// TestAsked: what the agent has just asked aloud is known until somebody answers, and
// not for long.
func TestAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply, h.model.Every = "Fine. What is your number?", time.Millisecond
		voiced(t, h)
		if h.Asked() != "" {
			t.Error("something was asked before anything was said")
		}
		h.says(t, "earshot call me")
		time.Sleep(2 * time.Second)
		if got := h.Asked(); got != "Fine. What is your number?" {
			t.Errorf("asked %d bytes", len(got))
		}
		h.model.Reply = "Thanks."
		h.says(t, "oh two one")
		time.Sleep(2 * time.Second)
		if got := h.Asked(); got != "Thanks." {
			t.Errorf("%d bytes are asked after an answer", len(got))
		}
		time.Sleep(time.Minute)
		if h.Asked() != "" {
			t.Error("something is asked after a minute")
		}
		h.stop()
	})
}
