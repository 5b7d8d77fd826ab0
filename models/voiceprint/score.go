package voiceprint

import (
	"math"
	"time"
)

// half is the evidence, in nats, that is a score of one half.
const half = 8

// scales are those of the model.
var scales = model.Scales()

// Score returns how similar two prints are, which may have been centred, see [Centre]: from -1 to
// 1, higher is more similar, and symmetric. Above 0 they are likelier of one voice than of two, by
// the model of voices; [Probability] says how reliable that is. Invalid prints score 0, like any
// two.
func Score(a, b []float32) float64 {
	if len(a) != Size || len(b) != Size {
		return 0
	}
	e := scales.Evidence(a, b)
	if math.IsNaN(e) {
		return 0
	}
	if math.IsInf(e, 0) {
		return math.Copysign(1, e)
	}
	return e / (half + math.Abs(e))
}

// Probability returns how likely two prints with a [Score] are of one voice, if both cases were
// equally likely before; heard is the length of the shorter one. It was trained on voices that the
// model did not know, and on utterances of 0.6 to 2.4 seconds.
func Probability(score float64, heard time.Duration) float64 {
	return sure(model.Odds.Of(evidence(score), heard), heard, score)
}

// evidence is the inverse of what Score makes of it.
func evidence(score float64) float64 {
	score = min(max(score, -0.999), 0.999)
	return half * score / (1 - math.Abs(score))
}

// sure returns the probability of those odds; too little heard says nothing.
func sure(logOdds float64, heard time.Duration, score float64) float64 {
	if heard < Least || math.IsNaN(score) {
		return 0.5
	}
	return 1 / (1 + math.Exp(-logOdds))
}

// Shift estimates what a channel adds to every voice, from uncentred prints of the voices heard
// through it, one for each. With few voices it is small: one alone hardly shows what belongs to
// the channel.
func Shift(voices [][]float32) []float32 {
	shift := make([]float32, Size)
	for i := range shift {
		sum, n := 0.0, 0.0
		for _, v := range voices {
			if len(v) == Size && !math.IsNaN(float64(v[i])) {
				sum += float64(v[i])
				n++
			}
		}
		drift := model.Drift[i] // beside voices, which vary by 1
		shift[i] = float32(drift * sum / (1 + n*drift))
	}
	return shift
}

// Centre appends print to one that may be empty, without what the channel added to it.
// A nil shift takes nothing away.
func Centre(to, print, shift []float32) []float32 {
	to = append(to, print...)
	centred := to[len(to)-len(print):]
	for i := range min(len(centred), len(shift)) {
		centred[i] -= shift[i]
	}
	return to
}
