package hub

import (
	"time"

	"earshot/internal/audio"
	"earshot/satellite"
)

const (
	// oldest is how long ago something may have been captured: a satellite keeps half a minute of an
	// utterance while it is away, and may take as long to come back.
	oldest = time.Minute

	// slack is by how much more than the clocks may be wrong a time may be in the future: a crystal
	// drifts 3 ms while an answer counts, and a sound card's own clock is known to some milliseconds.
	slack = 50 * time.Millisecond

	// setBack is by how much a clock that is set may leap unnoticed: smaller leaps are the errors of
	// slow answers.
	setBack = time.Second
)

// clamp returns at as a time when something can have been captured that came at now, and by how much
// it was wrong: more than 0 in the future, less than 0 too long ago. Within is by how much clocks may
// be wrong.
func clamp(at, now time.Time, within time.Duration) (_ time.Time, wrong time.Duration) {
	if ahead := at.Sub(now); ahead > 0 {
		if ahead <= within+slack {
			ahead = 0
		}
		return now, ahead
	}
	if first := now.Add(-oldest); at.Before(first) {
		return first, at.Sub(first)
	}
	return at, 0
}

// A clockReading is a time of a satellite's clock, and by how much that was ahead then.
type clockReading struct {
	at    time.Time
	ahead time.Duration
}

// before reports whether m is before at, which was said when the clock was ahead by that much. If the
// clock was set in between, m counts as if it had been said since.
func (m clockReading) before(at time.Time, ahead time.Duration) bool {
	last := m.at
	if leap := ahead - m.ahead; leap.Abs() >= setBack {
		last = last.Add(leap)
	}
	return m.at.IsZero() || at.After(last)
}

const (
	// lag is how long quiet frames wait, since sound of the same time may still come: a satellite
	// sends what was before a voice, 300 ms, and the network takes its time.
	lag = 400 * time.Millisecond

	// lasts is how long after a quiet packet it is still quiet if nothing comes: the second until
	// the next one, and how late that may be.
	lasts = 2 * satellite.QuietEvery

	// longestGap is the longest time between packets that is made up for by quiet frames.
	longestGap = 2 * time.Second

	// burst is how many frames may be handed on beyond those for which there was time: less than the
	// ten seconds that package sound lets a device catch up.
	burst = 400
)

// A timeline has the frames of one capture follow each other. It is a step function.
type timeline struct {
	opened time.Time // when the capture began
	given  int       // frames since then
	next   time.Time // when the frame after the last one begins; zero before the first
	until  time.Time // until when it is known to be quiet; zero if it is not
	level  int8      // of the quiet
	omit   bool      // the next quiet frame, if too many were given
}

// ahead returns how many more frames were given than there was time for.
func (t *timeline) ahead(now time.Time) int { return t.given - int(now.Sub(t.opened)/audio.Time) }

// voice takes a packet with sound of a time. It returns when its frame begins, and how many quiet
// frames come before that.
func (t *timeline) voice(at, now time.Time) (begins time.Time, quiet int) {
	gap := at.Sub(t.next)
	switch {
	case t.next.IsZero():
	case t.until.IsZero() && gap < 0:
		at = t.next // the offset is known better now, which must not turn frames round
	case !t.until.IsZero() && gap > 0 && gap <= longestGap:
		quiet = max(0, min(int(gap/audio.Time), -t.ahead(now)))
	}
	t.until = time.Time{}
	t.given += 1 + quiet
	t.next = at.Add(audio.Time)
	return at, quiet
}

// hush takes a packet that says how loud it is while it is quiet, from a time on.
func (t *timeline) hush(at time.Time, level int8) {
	if t.next.IsZero() || at.Sub(t.next) > longestGap {
		t.next = at
	}
	t.until, t.level = at.Add(lasts), level
}

// quiet reports whether a quiet frame is due at now, and when it begins. Every other one is left out
// while more frames were given than there was time for.
func (t *timeline) quiet(now time.Time) (begins time.Time, due bool) {
	for t.next.Before(t.until) && !t.next.Add(lag).After(now) {
		begins = t.next
		t.next = begins.Add(audio.Time)
		if t.omit = t.ahead(now) >= 0 && !t.omit; !t.omit {
			t.given++
			return begins, true
		}
	}
	return time.Time{}, false
}
