package arbiter

import (
	"math/bits"
	"time"

	"earshot/internal/audio"
)

const (
	// unknownFloor is the background that a source is taken to have before any was heard, in dB below
	// full scale. leastFloor is the least that counts: some microphones remove all background.
	unknownFloor = -60
	leastFloor   = -70

	// settling is the part of a frame without a voice in the background, half a second, and falling that
	// of one that is softer.
	settling, falling = 0.04, 0.3

	// remembering is the least part of a voiced frame in the quality of a voice: half a second.
	remembering = 0.04

	// returned is by how much a voice is softer, in dB, that is only what the room returns of it.
	returned = 10
)

// always is a time after which nothing comes.
var always = time.Unix(1<<40, 0)

// A Source is a microphone while it is open. Its frames come from one goroutine.
type Source struct {
	arbiter *Arbiter
	id      string

	// The following are guarded by the mutex of the arbiter.
	state   state
	until   time.Time // what it keeps from before this is a copy
	left    bool      // it is gone
	seen    time.Time // when its last frame came
	led     time.Time // when it led last
	onset   time.Time // of the voice
	age     int       // frames since then
	still   int       // frames since a voice was in one
	doubts  int       // comparisons in a row that found something else than who leads
	known   bool      // one found the same, so that it is a copy
	agrees  int       // comparisons in a row that found the same as another that leads
	own     bool      // our own sound is heard
	floor   float64   // the background, dB below full scale
	quality float64   // of the voice, dB
	voiced  int       // frames of it
	voices  uint64    // bit 0 is set if a voice is heard well in the newest frame, bit 1 for that before it, ...
	wave    wave
	of      *Source // with which it was compared last
	shift   int     // by which it is later, in samples
	like    float64 // how much it is like that

	// The following belong to the goroutine of the frames.
	ring     [lag + 1]audio.Frame
	first    int          // the oldest that is kept
	kept     int          // how many are
	out      int          // how many of them go out, from the first
	silent   time.Time    // those before this as silence
	gone     bool         // the frame before first has gone out, and is to be wiped
	straight *audio.Frame // goes out as it came
}

// measure takes in what a frame says of the source.
func (s *Source) measure(f *audio.Frame) {
	level := max(audio.Level(f.PCM[:]), leastFloor)
	part := settling
	if level < s.floor {
		part = falling
	}
	if !f.Voiced {
		s.floor += part * (level - s.floor)
	}
	above := max(0, level-s.floor)
	if s.state == quiet && f.Voiced { // a voice begins
		s.onset, s.age, s.doubts, s.known, s.agrees, s.voiced = f.At, 0, 0, false, 0, 0
	}
	s.age++
	s.own = f.Own
	s.voices <<= 1
	if s.still++; f.Voiced {
		s.still, s.voiced = 0, s.voiced+1
		is := above - 20*float64(f.EchoRatio) - 3*float64(min(f.Lost, 4))
		if s.quality += max(1/float64(s.voiced), remembering) * (is - s.quality); is > s.quality-returned {
			s.voices |= 1
		}
	}
	s.wave.add(f)
}

// speaks reports whether there is enough of a voice in what was compared to say that it is another: a
// syllable, or more if it may be the last of one that was the same.
func (s *Source) speaks() bool {
	n := bits.OnesCount64(s.voices & (1<<told - 1))
	return n >= 14 || n >= 5 && !s.known
}

// alike reports whether s is a copy of o, another source: by the likeness of what was heard last, or by
// less where it is later by as much as last time, and not much less like than it has been.
func (s *Source) alike(o *Source) bool {
	if s.of != o || !s.known {
		s.like = 0
	}
	r, least := 0.0, max(steadyLikeness, s.like/2)
	if s.of == o {
		r, s.shift = likeness(&s.wave, &o.wave, s.shift-near, s.shift+near)
	}
	if s.of = o; r < least {
		r, s.shift = likeness(&s.wave, &o.wave, -shift, shift)
		least = max(leastLikeness+nearLikeness*min(max(s.quality-o.quality+6, 0), 6), s.like/2)
	}
	if r < least {
		return false
	}
	s.like += 0.3 * (r - s.like)
	return true
}

// covered is for a copy whose leader was lost. It returns the time up to which the leader has passed
// the voice on already, or the zero time if s is somebody else.
func (s *Source) covered() (until time.Time) {
	if o := s.of; s.known && (o.left || s.wave.end.Sub(o.wave.end) > window*time.Second/perSec) {
		until = o.wave.end
	}
	return until
}

// precedes reports whether s rather than another leads if both hear the same.
func (s *Source) precedes(other *Source) bool {
	if s.quality != other.quality {
		return s.quality > other.quality
	}
	return s.id < other.id
}

// Next returns the next frame for the listeners of s, or nil if there is none at present. It is valid
// until the next call of Next or Step.
func (s *Source) Next() *audio.Frame {
	s.wipe()
	if s.out == 0 {
		f := s.straight
		s.straight = nil
		return f
	}
	f := &s.ring[s.first]
	s.first, s.kept, s.out, s.gone = (s.first+1)%len(s.ring), s.kept-1, s.out-1, true
	if f.At.Before(s.silent) {
		f.Voiced, f.Beside = false, false
		for i := range f.PCM {
			f.PCM[i] = int16(i & 1) // a microphone that gives nothing at all is taken for a broken one
		}
	}
	return f
}

// wipe wipes the frame that went out last: nobody needs to keep what was said.
func (s *Source) wipe() {
	if s.gone {
		s.ring[(s.first+len(s.ring)-1)%len(s.ring)] = audio.Frame{}
	}
	s.gone = false
}

// keep keeps f. There is room: what may be kept at once is the lag of a copy, and f.
func (s *Source) keep(f *audio.Frame) {
	s.ring[(s.first+s.kept)%len(s.ring)] = *f
	s.kept++
}

// release lets the n oldest frames go out, those from before a time as silence.
func (s *Source) release(n int, silent time.Time) { s.out, s.silent = max(0, n), silent }
