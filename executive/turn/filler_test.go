package turn_test

import (
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/executive/turn"
)

// TestFiller: a filler leaves the model some time, says something else while a tool is at work, and
// the same for the same turn.
func TestFiller(t *testing.T) {
	working := false
	f := func(id earshot.TurnID, after time.Duration) *turn.Filler {
		return turn.NewFiller(id, after, func() (tool, spoken bool) { return working, false })
	}
	if late, early := f("1", -time.Minute).After, f("1", time.Second).After; late != 300*time.Millisecond || early != time.Second {
		t.Errorf("due after %v and %v", late, early)
	}
	var idle, busy []string
	for _, id := range []earshot.TurnID{"1", "2", "3", "1"} {
		working = false
		idle = append(idle, f(id, 0).Sign())
		working = true
		busy = append(busy, f(id, 0).Sign())
	}
	if idle[0] != idle[3] || busy[0] != busy[3] || !slices.Contains(busy, "I am looking.") || slices.Contains(idle, "I am looking.") {
		t.Errorf("%q, at work %q", idle, busy)
	}
}
