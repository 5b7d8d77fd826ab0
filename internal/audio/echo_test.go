package audio_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"earshot/internal/audio"
)

// babble is a voice as far as levels go: syllables of a quarter of a second,
// some of them pauses, up and down within 10 dB.
func babble(r *rand.Rand, frames int, loud float64) []float64 {
	levels := make([]float64, frames)
	at := audio.Silence
	for i := range levels {
		if i%12 == 0 {
			at = loud - 10*r.Float64()
			if r.IntN(4) == 0 {
				at = audio.Silence
			}
		}
		shape := 6 * math.Abs(float64(i%12)-6) / 6
		levels[i] = max(audio.Silence, at-shape)
	}
	return levels
}

// sum adds levels as energies.
func sum(levels ...float64) float64 {
	e := 0.0
	for _, l := range levels {
		e += math.Pow(10, l/10)
	}
	return 10 * math.Log10(e)
}

// TestEcho draws a room for each case: own sound for ten seconds, its echo,
// noise, and perhaps somebody who speaks meanwhile; and wants the mean ratio of
// the frames in which something is heard, after the first seconds.
func TestEcho(t *testing.T) {
	const frames, learning = 500, 150
	off := math.Inf(-1)
	for _, tt := range []struct {
		name        string
		echo        float64 // how much softer it arrives, dB
		late        int     // frames
		noise       float64
		talks       float64
		least, most float64
	}{
		{"headphones, silence", off, 0, audio.Silence, off, 0, 0.02},
		{"headphones, a fan", off, 0, -50, off, 0, 0.1},
		{"headphones, somebody speaks", off, 0, -60, -25, 0, 0.2},
		{"a virtual card, somebody speaks", off, 0, audio.Silence, -20, 0, 0.2},
		{"a loudspeaker", -6, 2, -60, off, 0.7, 1},
		{"a loudspeaker, late", -10, 3, -60, off, 0.5, 1},
		{"a loud loudspeaker", +4, 1, -60, off, 0.7, 1},
		{"a soft one, somebody loud", -30, 2, -60, -15, 0, 0.35},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			far, talk := babble(r, frames, -18), babble(r, frames, tt.talks)
			var e audio.Echo
			at := time.Unix(0, 0)
			mean, n := 0.0, 0
			for range 50 { // the room before we speak
				e.Captured(at, tt.noise+r.Float64())
				at = at.Add(audio.Time)
			}
			for i := range frames {
				e.Played(at, at.Add(audio.Time), far[i])
				echo := off
				if i >= tt.late {
					echo = far[i-tt.late] + tt.echo
				}
				near := max(audio.Silence, sum(tt.noise+r.Float64(), talk[i], echo))
				own, ratio := e.Captured(at, near)
				if !own && far[i] > -40 {
					t.Fatalf("frame %d: own sound of %v dB is not audible", i, far[i])
				}
				if tt.most < 0.1 && float64(ratio) > tt.most {
					t.Fatalf("frame %d: ratio %v of nothing", i, ratio)
				}
				if i >= learning && near > -40 && own {
					mean += float64(ratio)
					n++
				}
				at = at.Add(audio.Time)
			}
			if n > 0 {
				mean /= float64(n)
			}
			if mean < tt.least || mean > tt.most {
				t.Errorf("mean ratio %.2f over %d frames, want %v to %v", mean, n, tt.least, tt.most)
			}
			t.Logf("mean ratio %.2f over %d frames", mean, n)
		})
	}
}

// TestEchoAtFirst: what comes back of the first second that is ever played is
// not taken for somebody, while nothing was learned of the room.
func TestEchoAtFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e audio.Echo
	at := time.Unix(0, 0)
	for range 50 {
		e.Captured(at, -60+r.Float64())
		at = at.Add(audio.Time)
	}
	voices, n := 0, 0
	for _, level := range babble(r, 50, -18) {
		e.Played(at, at.Add(audio.Time), level)
		if _, ratio := e.Captured(at, sum(level-15, -60)); level > -40 {
			n++
			if ratio < 0.5 {
				voices++
			}
		}
		at = at.Add(audio.Time)
	}
	if voices > n/10 {
		t.Errorf("%d of %d frames were taken for a voice", voices, n)
	}
}

// TestEchoIsOver: when we are silent nothing is our own.
func TestEchoIsOver(t *testing.T) {
	var e audio.Echo
	at := time.Unix(0, 0)
	picture := ""
	for i := range 40 {
		if i >= 5 && i < 20 {
			e.Played(at, at.Add(audio.Time), -20)
		}
		own, ratio := e.Captured(at, -30)
		switch {
		case own:
			picture += "#"
		case ratio != 0:
			t.Errorf("frame %d: ratio %v of nothing", i, ratio)
		default:
			picture += "."
		}
		at = at.Add(audio.Time)
	}
	// The room rings for another eight frames, until it is faint.
	if want := ".....#######################............"; picture != want {
		t.Errorf("own sound\n%s, want\n%s", picture, want)
	}
}

func TestEchoAllocatesNothing(t *testing.T) {
	var e audio.Echo
	at := time.Unix(0, 0)
	if n := testing.AllocsPerRun(100, func() {
		e.Played(at, at.Add(audio.Time), -20)
		e.Captured(at, -30)
		at = at.Add(audio.Time)
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkEcho(b *testing.B) {
	var e audio.Echo
	at := time.Unix(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		e.Played(at, at.Add(audio.Time), -20)
		e.Captured(at, -30)
		at = at.Add(audio.Time)
	}
}
