package main

import (
	"fmt"
	"testing"
	"time"

	"earshot"
)

// foreignRows are the names of the rows of unknown voices.
func foreignRows() (names []string) {
	for _, which := range []string{"tuned on", "held out"} {
		for _, level := range levels {
			for _, what := range []string{
				"word error rate", "answered", "answered, and understood", "asked back", "met with silence", "calls missed", "false wakes",
				"stops missed, by words alone", "replies ended by a murmur",
			} {
				names = append(names, fmt.Sprintf("L %s, %.0f dB: %s", which, level, what))
			}
		}
	}
	return names
}

// TestForeigners: there are at least twelve, half of them held out.
func TestForeigners(t *testing.T) {
	held := 0
	for _, f := range foreigners {
		if f.held {
			held++
		}
	}
	if len(foreigners) < 12 || 2*held != len(foreigners) || len(inTurn) != 12 || len(levels) != 3 {
		t.Errorf("%d voices, of which %d are held out, say %d sentences at %d levels", len(foreigners), held, len(inTurn), len(levels))
	}
}

// TestTally: what becomes of what is understood.
func TestTally(t *testing.T) {
	said := func(text string, sure float64) earshot.Utterance {
		return earshot.Utterance{Text: earshot.Text(text), Confidence: sure, Lasted: time.Second}
	}
	var got tally
	got.turn("why is the sky blue", said("why is the sky blue", 0.8))
	got.turn("why is the sky blue", said("white is the sky glue", 0.6))
	got.turn("why is the sky blue", said("white is this glue", 0.2))
	got.turn("why is the sky blue", said("white", 0.05))
	got.turn("why is the sky blue", said("earshot why is the sky", 0.8))
	got.call("", said("you shot what time is it", 0.5))
	got.call("", said("the assault", 0.5))
	got.stop("", said("stop talk and", 0.5))
	got.stop("", said("the client", 0.5))
	got.hum("", said("you", 0.9))
	got.hum("", said("but what", 0.9))
	want := tally{words: 25, wrong: 13, said: 5, answered: 2, right: 1, askedBack: 1, falsely: 1, called: 2, missed: 1, stops: 2, goesOn: 1, hums: 2, cuts: 1}
	if got != want {
		t.Errorf("the tally is\n%+v, want\n%+v", got, want)
	}
}

func nameRows() (names []string) {
	how := []string{"N embedded recogniser"}
	for i, wrong := range misheard {
		how = append(how[:i], fmt.Sprintf("N %.0f %% of phones misheard", 100*wrong), "N embedded recogniser")
	}
	for _, h := range how {
		for _, name := range agentNames {
			names = append(names, fmt.Sprintf("%s: calls by %q missed", h, name))
		}
		names = append(names, h+": false calls")
	}
	return names
}
