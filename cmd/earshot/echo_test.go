package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// TestAloudOverItself: when the microphone hears the loudspeaker, earshot neither cuts itself off,
// nor answers itself, nor records its own words. Somebody who says its name or "stop talking" over
// it still cuts it off, though, as anywhere, one may have to say it again. The gaps of a
// loudspeaker that stutters cannot be known as echo, so on a machine that cannot keep up the test
// tries three times.
func TestAloudOverItself(t *testing.T) {
	talks(t)
	for range 3 {
		var faults []string
		stuttered := false
		t.Run("try", func(t *testing.T) { faults, stuttered = ownSound(t) })
		switch {
		case len(faults) == 0:
			return
		case !stuttered:
			t.Fatal(strings.Join(faults, "\n"))
		}
		t.Logf("the loudspeaker stuttered, and %s", strings.Join(faults, "\n"))
	}
	t.Skip("the machine is too busy to play what is to be heard")
}

// ownSound plays the scene once. It returns what went wrong, and whether the sound helper says that
// the loudspeaker stuttered.
func ownSound(t *testing.T) (faults []string, stuttered bool) {
	p := newParlour(t)
	p.scripted(talker)
	// The echo is 24 dB softer. At 13 dB the agent's name is still noticed, but "stop talking" is
	// not.
	if err := p.card.Leak(40); err != nil {
		t.Fatal(err)
	}
	p.wakes()
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	r := rendered(t, tide...)
	asked, spoken := 0, 0
	ask := func(over string) earshot.Reply {
		t.Helper()
		recording := p.records()
		before := len(p.replied(0))
		p.says(bob, "earshot, tell me about the tide")
		asked, spoken = asked+1, spoken+1
		if over != "" {
			testkit.Await(t, soon, "the voice", func() bool {
				return loud(recording.PCM(0)) >= 2*rate || len(p.replied(0)) > before
			})
		}
		for try := 0; over != "" && try < 3 && len(p.replied(0)) == before; try++ {
			p.says(bob, over)
			spoken++
		}
		reply := p.replied(before + 1)[before]
		p.sounds(hush(1500)) // until all that was heard has been understood
		sounded, told := r.sounded(p.recorded(recording)), r.told(reply)
		if told < sounded-1 || told > sounded+1 {
			wrong("%d words sounded, and %d are told", sounded, told)
		}
		return reply
	}
	if reply := ask(""); reply.Outcome != earshot.Completed {
		wrong("nobody else spoke, and the reply was %s", reply.Outcome)
	}
	if n := len(things(p.heard(1))); n != 1 {
		wrong("one thing was said, and %d written down", n)
	}
	for _, over := range []string{"stop talking", "hey earshot"} {
		if reply := ask(over); reply.Outcome != earshot.Interrupted {
			wrong("%q was said over the reply, which was %s", over, reply.Outcome)
		}
	}
	p.answered(nil)
	if n := len(things(p.heard(asked))); n > spoken {
		wrong("%d things were said, and %d written down", spoken, n)
	}
	for _, u := range p.heard(asked) {
		t.Logf("heard for %v, %.0f %% of it over its own sound: %q", u.Lasted, 100*u.Own, string(u.Text))
	}
	return faults, strings.Contains(p.log(), "the loudspeaker stuttered")
}

// click is the longest that a sound without a word lasts, though one may be found in it: when the
// loudspeaker stutters, some of its sound is out before its time is known.
const click = 200 * time.Millisecond

// things returns what was said, counting once what a pause for breath has split.
func things(heard []earshot.Utterance) []earshot.Utterance {
	return slices.DeleteFunc(slices.Clone(heard), func(u earshot.Utterance) bool {
		return u.Continues != "" || u.Lasted <= click
	})
}
