package voiceprint_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

// numbers draws arbitrary numbers, including NaN and infinities.
var numbers = rapid.SliceOfN(rapid.OneOf(
	rapid.Float32Range(-8, 8), rapid.Float32(),
	rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}),
), voiceprint.Size, voiceprint.Size)

func TestScore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := numbers.Draw(r, "a"), numbers.Draw(r, "b")
		x, y := voiceprint.Score(a, b), voiceprint.Score(b, a)
		if !(math.Abs(x) <= 1) || math.Abs(x-y) > 1e-6 {
			r.Errorf("%v one way, %v the other", x, y)
		}
		if s := voiceprint.Score(a, b[1:]); s != 0 {
			r.Errorf("two kinds of print score %v", s)
		}
	})
	if s := voiceprint.Score(nil, nil); s != 0 {
		t.Errorf("nothing scores %v", s)
	}
}

// TestProbability: for each duration, the probability grows with the score, and there are scores at
// which two voices are almost surely one person, and almost surely two.
func TestProbability(t *testing.T) {
	for _, d := range []time.Duration{voiceprint.Least, time.Second, 2 * time.Second, 5 * time.Second, time.Hour} {
		last := -1.0
		for s := -1.0; s <= 1; s += 0.05 {
			p := voiceprint.Probability(s, d)
			if !(p >= last && p >= 0 && p <= 1) {
				t.Fatalf("%v: %.2f has %v after %v", d, s, p, last)
			}
			last = p
		}
		if low, high := voiceprint.Probability(-0.9, d), voiceprint.Probability(0.8, d); low > 0.05 || high < 0.8 {
			t.Errorf("%v: from %.2f to %.2f", d, low, high)
		}
	}
	for _, p := range []float64{voiceprint.Probability(0.9, voiceprint.Least-1), voiceprint.Probability(math.NaN(), time.Second)} {
		if p != 0.5 {
			t.Errorf("what cannot be known is %v", p)
		}
	}
}

func TestChange(t *testing.T) {
	const gained = 400
	x, z, nothing := measured(bob(2*time.Second)), measured(ann(2*time.Second)), measured(bob(200*time.Millisecond))
	if p := voiceprint.Change(x[:50], x[50:], gained); p > 0.2 {
		t.Errorf("one voice changes with %.2f", p)
	}
	if p := voiceprint.Change(x, z, gained); p < 0.8 {
		t.Errorf("another voice is a change with %.2f", p)
	}
	if little, much := voiceprint.Change(x, z, gained), voiceprint.Change(x, z, 2*gained); much <= little {
		t.Errorf("a change that gains more is one with %.2f, and one that gains less with %.2f", much, little)
	}
	for _, v := range [][]voiceprint.Sound{nil, nothing} {
		if p, q := voiceprint.Change(x, v, gained), voiceprint.Change(v, x, gained); p != 0.5 || q != 0.5 {
			t.Errorf("nothing is a change with %v and %v", p, q)
		}
	}
}

// measured returns the measurements of frames.
func measured(frames []audio.Frame) (all []voiceprint.Sound) {
	var a voiceprint.Analyser
	for i := range frames {
		all = append(all, *a.Step(&frames[i]))
	}
	return all
}

// TestShift: what many voices have in common is attributed to the channel, while a single voice
// keeps most of what it is.
func TestShift(t *testing.T) {
	one := make([]float32, voiceprint.Size)
	for i := range one {
		one[i] = 1
	}
	sum := func(v []float32) (s float64) {
		for _, n := range v {
			s += float64(n)
		}
		return s / voiceprint.Size
	}
	if s := sum(voiceprint.Shift(nil)); s != 0 {
		t.Errorf("no voice shifts by %v", s)
	}
	alone := sum(voiceprint.Shift([][]float32{one}))
	many := make([][]float32, 50)
	for i := range many {
		many[i] = one
	}
	if all := sum(voiceprint.Shift(many)); alone > 0.5 || all <= alone || all > 1 {
		t.Errorf("one voice of 1 shifts by %.2f, fifty by %.2f", alone, all)
	}
	centred := voiceprint.Centre(nil, one, one)
	if sum(centred) != 0 || sum(one) != 1 || sum(voiceprint.Centre(nil, one, nil)) != 1 {
		t.Errorf("centred it is %v of %v", centred, one)
	}
}
