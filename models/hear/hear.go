// Package hear finds the utterances in a stream of annotated frames. It is one step function, with
// neither goroutine nor clock: time is what the frames say, so the same ear hears a microphone, a
// voice channel and a file, and a test needs no sound.
//
// An ear has no reader that could be slow: a Step does not block, and allocates nothing. Frames
// that were lost on the way count as silence.
package hear

import (
	"cmp"
	"iter"
	"math/bits"
	"time"

	"earshot/internal/audio"
	"earshot/internal/field"
)

// An Edge is what one frame revealed.
type Edge int

// The edges. Began is followed by Lasts or Nothing, Lasts by End or TooLong,
// each before the next Began.
const (
	None    Edge = iota
	Began        // a voice may have begun
	Lasts        // it is one: an utterance has begun, with what [Ear.PreRoll] holds
	Nothing      // what Began was none
	End          // the utterance is over
	TooLong      // the utterance is ended although the voice goes on; the next begins without a gap
)

// String returns the name of the edge.
func (e Edge) String() string {
	switch e {
	case None:
		return "none"
	case Began:
		return "began"
	case Lasts:
		return "lasts"
	case Nothing:
		return "nothing"
	case End:
		return "end"
	case TooLong:
		return "too long"
	}
	return "unknown edge"
}

const (
	duckOf  = 5 // frames that Config.Duck is counted in
	beginOf = 8 // frames that Config.Begin is counted in

	// doubt is how many frames an ear may take to decide whether an onset is a voice: 500 ms, so
	// that a rattle holds nobody back for longer.
	doubt = 25

	// echo is the share of our own sound in a frame's energy from which on the frame counts as ours
	// rather than somebody's voice.
	echo = 0.874

	// vague is the share from which on somebody may be in a frame. They are believed to be if that
	// goes on, but nothing begins with it.
	vague = 0.82

	// deny is in how many frames of an onset a detector must find no voice to end it: five of
	// Silero's windows, 160 ms, so that a detector that answers late denies nobody.
	deny = 8

	// fresh is how many frames back the newest verdict of a detector may be for it to count.
	fresh = 8
)

// Sensed is what a detector of voices says of the last 64 frames, the newest in bit 0: those in which
// it finds a voice, and those in which it finds none. Of the others it says nothing yet.
type Sensed struct{ Voice, None uint64 }

// A state is the position of the ear in an utterance.
type state int

const (
	quiet state = iota
	onset       // after Began
	open        // after Lasts
)

// An Ear follows one source of sound. It is used from one goroutine.
type Ear struct {
	cfg                Config
	end, roll, longest int64 // of cfg, in frames

	state  state
	now    int64  // the last frame stepped; counts lost ones too
	voiced uint64 // for the last 64 frames; the last is bit 0
	plain  uint64 // the same without those that are vague
	own    uint64 // the same for Frame.Own
	beside bool   // the last frame was voiced and had Frame.Beside
	least  int    // the voiced frames needed for an onset
	last   int64  // the last voiced frame of the utterance that is not alone
	first  int64  // its first
	before int64  // the last voiced frame of the utterance before
	began  time.Time
	count  int   // of its voiced frames
	ours   int   // of those, how many have Own
	wait   int64 // how much silence ends the utterance, in frames; 0 is end

	sensed  Sensed // of the last 64 frames; the newest is bit 0
	refused bool   // what is heard is no voice by a detector, and has not ended

	level level
	ring  []audio.Frame // the last frames; the newest is at (kept-1) mod len
	when  []int64       // the value of now when each was stepped
	kept  int64
}

// New returns an ear that has heard nothing. It panics if c is not valid.
func New(c Config) *Ear {
	if err := c.Validate(); err != nil {
		panic("hear: " + err.Error())
	}
	e := &Ear{
		cfg: c, end: inFrames(c.End), roll: inFrames(c.PreRoll), longest: inFrames(c.Longest),
		before: -1, now: -1, level: newLevel(),
	}
	e.ring = make([]audio.Frame, e.roll+doubt+1)
	e.when = make([]int64, len(e.ring))
	return e
}

// Step takes the next frame, and returns what it revealed. The ear keeps no reference to f.
//
// The frames of an utterance are those of [Ear.PreRoll] at its beginning, and
// each that is stepped after it, that of its End or TooLong included.
func (e *Ear) Step(f *audio.Frame) Edge {
	e.hear(f)
	switch e.state {
	case quiet:
		return e.whileQuiet()
	case onset:
		return e.inDoubt()
	default:
		return e.whileOpen()
	}
}

// hear adds f to the ear's memory.
func (e *Ear) hear(f *audio.Frame) {
	lost := int64(f.Lost)
	e.now += 1 + lost
	e.sensed.Voice <<= 1 + lost
	e.sensed.None <<= 1 + lost
	at := e.kept % int64(len(e.ring))
	e.ring[at], e.when[at] = *f, e.now
	e.kept++
	loud := e.level.step(f.PCM[:], lost) >= e.cfg.Margin
	voiced, plain, own := uint64(0), uint64(0), uint64(0)
	if f.Voiced && loud && f.EchoRatio < echo {
		voiced = 1
	}
	if f.EchoRatio < vague {
		plain = voiced
	}
	if f.Own {
		own = voiced
	}
	e.voiced = e.voiced<<(1+lost) | voiced
	e.plain = e.plain<<(1+lost) | plain
	e.own = e.own<<(1+lost) | own
	e.beside = voiced == 1 && f.Beside
	if voiced == 1 && e.state != quiet {
		e.count++
		e.ours += int(own)
	}
}

// Sensed tells the ear what a detector says of the frames that were stepped. With it, the ear takes
// nothing for a voice that lasts in which it finds none; one that says nothing is not asked.
func (e *Ear) Sensed(s Sensed) { e.sensed = s }

// affirmed reports whether a detector finds a voice in the last n frames, or says nothing.
func (e *Ear) affirmed(n int) bool {
	listens := (e.sensed.Voice|e.sensed.None)&(1<<fresh-1) != 0
	return !listens || e.sensed.Voice&(1<<n-1) != 0
}

// among returns how many of the last n frames were voiced.
func (e *Ear) among(n int) int { return bits.OnesCount64(e.voiced & (1<<n - 1)) }

// whileQuiet waits for a voice. Over our own sound, which hides the beginning of a voice, one
// frame in which it is clearly heard is enough: that only lowers our volume.
func (e *Ear) whileQuiet() Edge {
	if e.refused = e.refused && e.among(duckOf) > 0 && !e.affirmed(beginOf); e.refused {
		return None
	}
	e.least = min(e.cfg.Duck, e.cfg.Begin)
	if bits.OnesCount64(e.plain&(1<<duckOf-1)) < e.cfg.Duck {
		if !e.beside {
			return None
		}
		e.least = 1
	}
	window := e.voiced & (1<<duckOf - 1)
	e.state, e.wait = onset, 0
	e.first = e.now - int64(bits.Len64(window)-1)
	e.last = e.now - int64(bits.TrailingZeros64(window))
	e.count = bits.OnesCount64(window)
	e.ours = bits.OnesCount64(window & e.own)
	e.began = e.at(e.first)
	return Began
}

// at returns when frame n was captured.
func (e *Ear) at(n int64) (at time.Time) {
	for f, when := range e.remembered() {
		if when == n {
			at = f.At
		}
	}
	return at
}

// inDoubt decides whether an onset is a voice. It gives up when there are fewer voiced frames than
// Began needed, or when it takes too long; then it forgets them, so that they do not count as an
// onset again. What a detector denies, it refuses until that has ended, or the detector finds a voice.
func (e *Ear) inDoubt() Edge {
	e.follow()
	n, since := e.among(beginOf), int(e.now-e.first+1)
	affirmed := e.affirmed(since)
	switch {
	case n < e.least, affirmed && since > doubt+1:
		e.state, e.voiced, e.plain, e.own = quiet, 0, 0, 0
		return Nothing
	case !affirmed && bits.OnesCount64(e.sensed.None&(1<<since-1)) >= deny, since > doubt+1:
		e.state, e.refused = quiet, true
		return Nothing
	case n >= e.cfg.Begin && affirmed:
		e.state = open
		return Lasts
	}
	return None
}

// follow records that the voice is still there. One voiced frame between unvoiced ones is a click,
// and keeps nothing open.
func (e *Ear) follow() {
	if e.voiced&1 == 1 && e.among(3) >= 2 {
		e.last = e.now
	}
}

// whileOpen waits for the end of an utterance.
func (e *Ear) whileOpen() Edge {
	e.follow()
	limit, still := cmp.Or(e.wait, e.end), e.now-e.last
	switch {
	case still > limit, still == limit && e.voiced&1 == 0: // otherwise the next frame tells whether it goes on
		e.state, e.before = quiet, e.last
		return End
	case e.now-e.first+1 >= e.longest:
		e.state, e.before = quiet, e.now
		e.voiced, e.plain, e.own = 0, 0, 0 // these belong to the past utterance
		return TooLong
	}
	return None
}

// Wait sets how much silence ends the open utterance, as [Config.Patience] computes it from its
// words; 0 is Config.End. It holds until the next call, at most until the utterance ends.
func (e *Ear) Wait(silence time.Duration) { e.wait = inFrames(field.Seconds(silence.Seconds())) }

// Still returns how long the open utterance has been silent.
func (e *Ear) Still() time.Duration { return inTime(e.now - e.last) }

// PreRoll returns the frames of an utterance up to and including the last one stepped:
// Config.PreRoll before its first voiced one, without voiced frames of the previous utterance. It
// is complete after Began and Lasts, and while neither Lasts nor Nothing has followed Began; the
// frames are valid until the next Step.
func (e *Ear) PreRoll() iter.Seq[*audio.Frame] {
	return func(yield func(*audio.Frame) bool) {
		from := max(e.first-e.roll, e.before+1)
		for f, when := range e.remembered() {
			if when >= from && !yield(f) {
				return
			}
		}
	}
}

// Wipe overwrites the stored frames. The ear cannot be used afterwards.
func (e *Ear) Wipe() {
	clear(e.ring)
	e.kept = 0
}

// remembered returns the stored frames, the oldest first, with their numbers.
func (e *Ear) remembered() iter.Seq2[*audio.Frame, int64] {
	return func(yield func(*audio.Frame, int64) bool) {
		size := int64(len(e.ring))
		for i := max(0, e.kept-size); i < e.kept; i++ {
			if !yield(&e.ring[i%size], e.when[i%size]) {
				return
			}
		}
	}
}

// Utterance returns when the voice of the open utterance, or of the last one, began; its length so
// far, from its first sound to its last; and how much of it coincided with the agent's own sound,
// from 0 to 1.
func (e *Ear) Utterance() (began time.Time, lasted time.Duration, own float64) {
	if e.count == 0 {
		return e.began, 0, 0
	}
	return e.began, inTime(e.last - e.first + 1), float64(e.ours) / float64(e.count)
}
