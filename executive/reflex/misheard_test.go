package reflex_test

import (
	"testing"

	"earshot"
	"earshot/executive/reflex"
)

// TestMisheard: what sounds like a phrase by which one makes a speaker stop or wait, but for one
// sound, is taken for it.
func TestMisheard(t *testing.T) {
	for said, want := range map[earshot.Text]earshot.Text{
		"stop talk and":         "stop talking",
		"earshot stop talk and": "stop talking",
		"stop token please":     "stop talking",
		"hold on the second":    "hold on a second",
		"just the minute":       "just a minute",
		"stop talking":          "", // it is one as it is
		"hold on to the rope":   "",
		"what a story":          "",
		"":                      "",
	} {
		if got := reflex.Misheard(said, "Earshot"); got != want {
			t.Errorf("%q is taken for %q, want %q", string(said), string(got), string(want))
		}
	}
}
