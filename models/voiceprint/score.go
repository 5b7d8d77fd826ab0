package voiceprint

import (
	"math"
	"time"
)

// Score says how alike two prints are that were centred, see [Centre]: from -1
// to 1, higher is more alike. Prints that are none, or of two kinds, are as alike
// as two strangers: 0.
func Score(a, b []float32) float64 {
	if len(a) != Size || len(b) != Size {
		return 0
	}
	var ab, aa, bb float64
	for i, v := range a {
		w := float64(b[i])
		ab += float64(v) * w
		aa += float64(v) * float64(v)
		bb += w * w
	}
	s := ab / math.Sqrt(aa*bb)
	if !(math.Abs(s) <= 1.001) { // what is no number is none here either
		return 0
	}
	return min(max(s, -1), 1)
}

// Probability says how likely two prints with that [Score] are one voice, where
// that is as likely as not before they are compared; heard is the length of the
// shorter one.
func Probability(score float64, heard time.Duration) float64 {
	if heard < Least || math.IsNaN(score) {
		return 0.5
	}
	slope := 8 * math.Sqrt(min(heard.Seconds(), 5))
	return 1 / (1 + math.Exp(-slope*(score-0.5)))
}

// Shift estimates what a channel adds to every voice, from prints of the voices
// that were heard through it, one for each: their mean as they are. Of few voices
// it is little: one alone does not tell what is the channel's and what is its
// own.
func Shift(voices [][]float32) []float32 {
	shift := make([]float32, Size)
	share := 1 / (float32(len(voices)) + 4)
	for _, v := range voices {
		for i := range min(len(v), Size) {
			shift[i] += share * v[i]
		}
	}
	return shift
}

// Centre returns print without what the channel added to it. A nil shift takes
// nothing away.
func Centre(print, shift []float32) []float32 {
	centred := make([]float32, len(print))
	copy(centred, print)
	for i := range min(len(centred), len(shift)) {
		centred[i] -= shift[i]
	}
	return centred
}
