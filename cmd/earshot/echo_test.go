package main

import (
	"slices"
	"testing"
	"time"

	"earshot"
)

// TestOwnSound: where the microphone hears the loudspeaker, earshot neither cuts
// itself off, nor answers itself, nor writes itself down; who says its name or
// "stop talking" over it cuts it off all the same. As anywhere, one may have to
// say it again.
func TestOwnSound(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted(talker)
	// 24 dB softer. At 13 dB its name is still noticed, and "stop talking" is not.
	if err := p.card.Leak(40); err != nil {
		t.Fatal(err)
	}
	p.wakes()
	r := rendered(t, tide...)
	asked, spoken := 0, 0
	ask := func(over string) earshot.Reply {
		t.Helper()
		recording := p.records()
		before := len(p.replied(0))
		p.says(bob, "earshot, tell me about the tide")
		asked, spoken = asked+1, spoken+1
		if over != "" {
			p.speaking(recording, 2000)
		}
		for try := 0; over != "" && try < 3 && len(p.replied(0)) == before; try++ {
			p.says(bob, over)
			spoken++
		}
		reply := p.replied(before + 1)[before]
		p.sounds(hush(1500)) // until whatever was heard is understood
		r.truthful(t, reply, p.recorded(recording))
		return reply
	}
	if reply := ask(""); reply.Outcome != earshot.Completed {
		t.Errorf("nobody else spoke, and the reply was %s", reply.Outcome)
	}
	if n := len(things(p.heard(1))); n != 1 {
		t.Errorf("one thing was said, and %d written down", n)
	}
	for _, over := range []string{"stop talking", "hey earshot"} {
		if reply := ask(over); reply.Outcome != earshot.Interrupted {
			t.Errorf("%q was said over the reply, which was %s", over, reply.Outcome)
		}
	}
	p.answered(nil)
	if n := len(things(p.heard(asked))); n > spoken {
		t.Errorf("%d things were said, and %d written down", spoken, n)
	}
	for _, u := range p.heard(asked) {
		t.Logf("heard for %v, %.0f %% of it over its own sound: %q", u.Lasted, 100*u.Own, string(u.Text))
	}
}

// click is how long something is that is no word, though one may be found in it: when
// the loudspeaker stutters, some of its sound is out before its time is known.
const click = 200 * time.Millisecond

// things returns what was said, each once, also where a breath had split it.
func things(heard []earshot.Utterance) []earshot.Utterance {
	return slices.DeleteFunc(slices.Clone(heard), func(u earshot.Utterance) bool {
		return u.Continues != "" || u.Lasted <= click
	})
}
