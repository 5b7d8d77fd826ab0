package main

import (
	"strings"
	"testing"

	"earshot"
)

// TestSpokenQuestion: what is asked aloud is understood, answered aloud, and
// written down.
func TestSpokenQuestion(t *testing.T) {
	t.Parallel()
	p := newParlour(t)
	p.scripted(talker)
	p.wakes()
	recording := p.records()
	p.says(bob, "earshot, what is the weather like today")
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Completed || reply.Delivered() != "It is warm and dry today." {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	rendered(t, "It is warm and dry today.").truthful(t, reply, recording.PCM(0), rate)
	shown := p.earshot(nil, "history").out
	if lines := strings.Split(strings.TrimSpace(shown), "\n"); len(lines) != 2 || wrong(lines[0], "somebody Earshot what is the weather like today") > 3 || !strings.Contains(lines[1], "Earshot    It is warm and dry today.") {
		t.Errorf("history shows\n%s", shown)
	}
}

// wrong returns how many words of want are not in got, in their order, or are in
// it without being in want, whichever is more: recognisers slip.
func wrong(got, want string) int {
	g, w := strings.Fields(strings.ToLower(got)), strings.Fields(strings.ToLower(want))
	row := make([]int, len(w)+1) // the longest sequence that both have, of the first words
	for _, x := range g {
		diagonal := 0
		for i, y := range w {
			best := max(row[i], row[i+1])
			if x == y {
				best = max(best, diagonal+1)
			}
			diagonal, row[i+1] = row[i+1], best
		}
	}
	return max(len(g), len(w)) - row[len(w)]
}
