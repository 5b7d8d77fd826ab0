package acoustic

import (
	"math"

	"earshot/internal/audio"
)

// A pitch is sought among the lags of 60 to 400 Hz, the range of voices, at a quarter of the rate:
// 30 ms are compared with what came before.
const (
	deep     = 60.0 // Hz
	decimate = 4
	slowRate = audio.Rate / decimate
	shortest = slowRate / 400
	longest  = slowRate / int(deep)
	piece    = 120 // a multiple of four
	memory   = piece + longest + 1

	hums  = 0.6  // the correlation from which on it is a pitch
	first = 0.85 // of the best correlation: the shortest lag that has so much is it, the others are octaves below
)

// A PitchDetector detects whether a sound has a pitch, for callers that need nothing else of an
// [Analyser]. The zero value has heard nothing; it is used from one goroutine.
type PitchDetector struct{ low slow }

// Step takes 20 ms and returns how similar the sound is to itself after the best of the lags of
// voices, from 0 to 1, and that pitch, in octaves over 60 Hz: 0 if it is hardly similar. It
// allocates nothing.
func (t *PitchDetector) Step(f *audio.Frame) (alike, pitch float64) {
	if f.Lost > 0 {
		t.low = slow{}
	}
	deepen(t.low[:], f)
	low := t.low
	alike, pitch = low.pitch(hums / 2)
	return max(0, alike), pitch
}

// slow are the last samples at a quarter of the rate, oldest first.
type slow [memory]float64

// deepen appends f to samples, oldest first.
func deepen(samples []float64, f *audio.Frame) {
	const n = audio.Samples / decimate
	kept := copy(samples, samples[n:])
	for i := range n {
		sum := 0.0
		for _, s := range f.PCM[decimate*i : decimate*(i+1)] {
			sum += float64(s)
		}
		samples[kept+i] = sum
	}
}

// pitch returns the best correlation of what was heard last, and how high that is, in octaves over
// [deep]; 0 if it has no pitch with at least that correlation.
func (s *slow) pitch(least float64) (best, high float64) {
	s.balance()
	var alike [longest + 2]float64
	if best = s.correlate(&alike); best < least {
		return best, 0
	}
	for lag := shortest + 1; lag <= longest; lag++ {
		before, at, after := alike[lag-1], alike[lag], alike[lag+1]
		if at < before || at < after || at < hums/2 {
			continue
		}
		off, height := 0.0, at
		if bend := before - 2*at + after; bend < 0 {
			off = (before - after) / 2 / bend // between the samples
			height -= (before - after) * off / 4
		}
		if height >= first*best {
			return best, max(0, math.Log2(slowRate/(float64(lag)+off)/deep))
		}
	}
	return best, 0
}

// balance removes the mean of s, which many microphones have and which correlates at any lag.
func (s *slow) balance() {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	for i := range s {
		s[i] -= sum / float64(memory)
	}
}

// correlate fills in how alike the last piece is to what was so many samples
// before, and returns the best of it.
func (s *slow) correlate(alike *[longest + 2]float64) (best float64) {
	now := s[memory-piece:]
	mine, its := 1.0, 1.0
	for i, v := range now {
		mine += v * v
		w := s[memory-piece-shortest+1+i]
		its += w * w
	}
	for lag := shortest; lag <= longest+1; lag++ {
		then := s[memory-piece-lag : memory-lag]
		gone := s[memory-lag]
		its += then[0]*then[0] - gone*gone
		alike[lag] = product(now, then) / math.Sqrt(mine*max(its, 1))
		if lag <= longest {
			best = max(best, alike[lag])
		}
	}
	return best
}

// product returns the sum of the products of two pieces, in four sums at once,
// which do not wait for each other.
func product(a, b []float64) float64 {
	var w, x, y, z float64
	b = b[:len(a)]
	for i := 0; i+4 <= len(a); i += 4 {
		w += a[i] * b[i]
		x += a[i+1] * b[i+1]
		y += a[i+2] * b[i+2]
		z += a[i+3] * b[i+3]
	}
	return w + x + y + z
}
