package hear

import (
	"time"

	"earshot/internal/audio"
)

// The floor is the background level: the quietest frame of the last seconds. A voice has gaps,
// between words and within them, in which the floor shows; a fan, a hum and dense music have none,
// and become the floor. So the floor falls at once and rises when the whole memory has passed.
const (
	part  = 25 // frames of one part of the memory: 500 ms
	parts = 8  // of the memory: 4 s, longer than anybody holds one vowel

	// lowest is the floor of a microphone that is silent between words, as those with noise
	// suppression are. Anything softer was not said to us.
	lowest = -65.0

	// highest leaves room for a voice: close to a microphone it has -30 to -20 dB, and in louder
	// noise no recogniser understands it.
	highest = -36.0
)

// Zero returns how long every sample was exactly 0, as no working microphone gives.
func (e *Ear) Zero() time.Duration { return inTime(e.level.zero) }

// A level follows the loudness.
type level struct {
	zero int64          // frames
	low  [parts]float64 // the quietest frame of each part of the memory
	at   int            // the part that is being heard
	in   int64          // how many frames of it
}

func newLevel() level {
	var l level
	for i := range l.low {
		l.low[i] = lowest
	}
	return l
}

// step takes a frame, with the number of lost ones before it, and returns how far it is above the
// floor.
func (l *level) step(pcm []int16, lost int64) float64 {
	now := audio.Level(pcm)
	if now == audio.Silence && silent(pcm) {
		l.zero += 1 + lost
	} else {
		l.zero = 0
	}
	if l.in++; l.in > part { // lost frames were not heard, so they are not silence
		l.at, l.in = (l.at+1)%parts, 1
		l.low[l.at] = now
	}
	l.low[l.at] = min(l.low[l.at], now)
	return now - l.floor()
}

func (l *level) floor() float64 {
	low := l.low[0]
	for _, part := range l.low[1:] {
		low = min(low, part)
	}
	return min(max(low, lowest), highest)
}

func silent(pcm []int16) bool {
	for _, s := range pcm {
		if s != 0 {
			return false
		}
	}
	return true
}
