package voicing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/models/voicing"
)

// A sound returns its samples, from 0 on.
type sound func(i int) float64

// vowels are those of a voice that glides from one pitch to another within a second, in Hz, in a
// mouth that opens and closes, with a breath.
func vowels(from, to float64) sound {
	d, phase := rand.New(rand.NewPCG(3, 4)), 0.0
	return func(i int) float64 {
		t := float64(i) / audio.Rate
		pitch := from + (to-from)*t
		phase += pitch / audio.Rate
		sum, open := 0.0, math.Sin(2*math.Pi*4*t)
		for h := 1.0; h*pitch < 5000; h++ {
			gain := 0.02
			for _, of := range [][2]float64{{550 + 150*open, 1}, {1500 - 300*open, 0.5}, {2600, 0.3}, {3600, 0.2}} {
				off := (h*pitch - of[0]) / 90
				gain += of[1] / (1 + off*off)
			}
			sum += gain / math.Sqrt(h) * math.Sin(2*math.Pi*h*phase)
		}
		return sum/2 + 0.003*d.NormFloat64()
	}
}

// chord is as many tones as there are frequencies, in Hz, which fall by 6 dB an octave.
func chord(tones ...float64) sound {
	return func(i int) (sum float64) {
		for _, f := range tones {
			for h := 1.0; h <= 6 && h*f < 7000; h++ {
				sum += math.Sin(2*math.Pi*h*f*float64(i)/audio.Rate+h) / h
			}
		}
		return sum / float64(2*len(tones))
	}
}

// noise is white, and loud so many times a second; 0 is always.
func noise(bursts float64) sound {
	d := rand.New(rand.NewPCG(1, 2))
	return func(i int) float64 {
		_, part := math.Modf(bursts * float64(i) / audio.Rate)
		return 0.3 * d.NormFloat64() * math.Exp(-20*part)
	}
}

// after returns how many frames of a sound are heard until it is taken for a voice, at most 25; -1
// is never. The room is quiet before.
func after(s sound, gain float64) int {
	var d voicing.Detector
	var f audio.Frame
	d.Step(&f, false)
	d.Begin()
	for n := range 25 {
		for i := range f.PCM {
			f.PCM[i] = int16(min(max(gain*s(n*audio.Samples+i), math.MinInt16), math.MaxInt16))
		}
		if d.Step(&f, true); d.Voice() {
			return n + 1
		}
	}
	return -1
}

func TestVoice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sound sound
		voice bool
	}{
		{"a low voice", vowels(95, 120), true},
		{"a high voice", vowels(210, 180), true},
		{"noise", noise(0), false},
		{"bursts of it", noise(8), false},
		{"a whistle", func(i int) float64 { return 0.5 * math.Sin(2*math.Pi*1200*float64(i)/audio.Rate) }, false},
		{"a chord", chord(220, 277.2, 329.6), false},
		{"a high one", chord(440, 554.4, 659.3), false},
		{"a tone", chord(330), false},
	} {
		if got := after(tt.sound, 6000); got > 0 != tt.voice {
			t.Errorf("%s is a voice after %d frames", tt.name, got)
		}
	}
}

// TestLoudness: how loud a voice is does not matter, nor how it glides, as long as it does by a
// sixth in a second; one that is more monotonous may be an instrument.
func TestLoudness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(90, 160).Draw(t, "pitch")
		by := rapid.Float64Range(0.16, 0.3).Draw(t, "by") * rapid.SampledFrom([]float64{-1, 1}).Draw(t, "way")
		if n := after(vowels(from, from*(1+by)), rapid.Float64Range(500, 20000).Draw(t, "gain")); n < 0 || n > 15 {
			t.Fatalf("it is a voice after %d frames", n)
		}
	})
}

// TestAnySound: a frame decides nothing by itself, a voice stays one until the next sound begins,
// and no samples break anything.
func TestAnySound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d voicing.Detector
		var f audio.Frame
		was := false
		for n := range rapid.IntRange(1, 40).Draw(t, "frames") {
			loud := rapid.IntRange(0, math.MaxInt16).Draw(t, "loud")
			luck := rand.New(rand.NewPCG(uint64(n), rapid.Uint64().Draw(t, "seed")))
			for i := range f.PCM {
				f.PCM[i] = int16(luck.IntN(2*loud+1) - loud)
			}
			f.Lost = rapid.SampledFrom([]uint16{0, 0, 0, 1, math.MaxUint16}).Draw(t, "lost")
			if rapid.IntRange(0, 9).Draw(t, "begins") == 0 {
				d.Begin()
				was = false
			}
			counts := rapid.Bool().Draw(t, "counts")
			d.Step(&f, counts)
			for i, x := range d.Features() {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("feature %d is %v", i, x)
				}
			}
			if is := d.Voice(); was && !is || is && !was && !counts {
				t.Fatalf("frame %d: a voice %v, after %v, and it counted: %v", n, is, was, counts)
			}
			was = d.Voice()
		}
	})
}

func TestStepAllocatesNothing(t *testing.T) {
	var d voicing.Detector
	var f audio.Frame
	if n := testing.AllocsPerRun(100, func() { d.Step(&f, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	var d voicing.Detector
	var f audio.Frame
	b.ReportAllocs()
	for b.Loop() {
		d.Step(&f, true)
	}
}
