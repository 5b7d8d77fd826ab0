package audio_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"earshot/internal/audio"
)

// babble returns the levels of a voice: syllables of a quarter of a second, some of them pauses,
// going up and down within 10 dB.
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

// sound returns a frame with noises of these levels, mixed.
func sound(r *rand.Rand, levels ...float64) []int16 {
	power := 0.0
	for _, l := range levels {
		if l > audio.Silence {
			power += math.Pow(10, l/10)
		}
	}
	pcm := make([]int16, audio.Samples)
	for i := range pcm {
		pcm[i] = int16(max(-32768, min(math.Round(32768*math.Sqrt(power)*r.NormFloat64()), 32767)))
	}
	return pcm
}

// TestEcho imitates a room for each case: own sound for ten seconds, its echo, noise, and perhaps
// somebody who speaks meanwhile. It checks the mean ratio of the frames in which something is
// heard, after the first seconds.
func TestEcho(t *testing.T) {
	const frames, learning = 500, 150
	off := math.Inf(-1)
	for _, tt := range []struct {
		name        string
		echo        float64 // by how much softer it arrives, in dB
		late        int     // in frames
		noise       float64
		talks       float64
		least, most float64
	}{
		{"headphones, silence", off, 0, audio.Silence, off, 0, 0.02},
		{"headphones, a fan", off, 0, -50, off, 0, 0.1},
		{"headphones, somebody speaks", off, 0, -60, -25, 0, 0.2},
		{"a virtual card, somebody speaks", off, 0, audio.Silence, -20, 0, 0.2},
		{"a loudspeaker", -6, 2, -60, off, 0.9, 1},
		{"a loudspeaker, late", -10, 3, -60, off, 0.9, 1},
		{"a loudspeaker, very late", -10, 10, -60, off, 0.9, 1},
		{"a loud loudspeaker", +4, 1, -60, off, 0.9, 1},
		{"a soft one, somebody loud", -35, 2, -60, -15, 0, 0.35},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			far, talk := babble(r, frames, -18), babble(r, frames, tt.talks)
			var e audio.Echo
			mean, n := 0.0, 0
			for range 50 { // the room before our own sound begins
				e.Captured(sound(r), sound(r, tt.noise))
			}
			for i := range frames {
				echo := off
				if i >= tt.late {
					echo = far[i-tt.late] + tt.echo
				}
				near := sound(r, tt.noise, talk[i], echo)
				own, ratio := e.Captured(sound(r, far[i]), near)
				if !own && far[i] > -40 {
					t.Fatalf("frame %d: own sound of %v dB is not audible", i, far[i])
				}
				if tt.most < 0.1 && float64(ratio) > tt.most {
					t.Fatalf("frame %d: ratio %v of nothing", i, ratio)
				}
				if i >= learning && audio.Level(near) > -40 && own {
					mean += float64(ratio)
					n++
				}
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

// TestEchoAtFirst: the echo of the first second ever played is not taken for somebody, however loud
// it is.
func TestEchoAtFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, coupled := range []float64{0, -15} {
		var e audio.Echo
		for range 50 {
			e.Captured(sound(r), sound(r, -60))
		}
		voices, n := 0, 0
		for _, level := range babble(r, 50, -18) {
			if _, ratio := e.Captured(sound(r, level), sound(r, level+coupled, -60)); level+coupled > -40 {
				n++
				if ratio < 0.9 {
					voices++
				}
			}
		}
		if voices > n/10 {
			t.Errorf("%v dB: %d of %d frames were taken for a voice", coupled, voices, n)
		}
	}
}

// TestEchoOfNothing: with headphones, half a second of own sound is enough to recognise somebody
// who speaks over it, even if they were just put on.
func TestEchoOfNothing(t *testing.T) {
	for _, tt := range []struct {
		name    string
		learned int // frames with a loudspeaker before that
		noise   float64
	}{
		{"from the beginning", 0, -60},
		{"on a virtual card", 0, audio.Silence},
		{"beside a fan", 0, -48},
		{"after a loudspeaker", 300, -60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			var e audio.Echo
			for range 50 {
				e.Captured(sound(r), sound(r, tt.noise))
			}
			for _, level := range babble(r, tt.learned, -18) {
				e.Captured(sound(r, level), sound(r, level-6, tt.noise))
			}
			for range 20 {
				e.Captured(sound(r), sound(r, tt.noise))
			}
			for range 25 {
				e.Captured(sound(r, -18), sound(r, tt.noise))
			}
			voices := 0
			for range 20 {
				if _, ratio := e.Captured(sound(r, -18), sound(r, -30, tt.noise)); ratio < 0.5 {
					voices++
				}
			}
			if voices < 18 {
				t.Errorf("%d of 20 frames were taken for a voice", voices)
			}
		})
	}
}

// TestEchoComesLate: an echo that is still on its way is not mistaken for one that never comes.
func TestEchoComesLate(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var e audio.Echo
	for range 50 {
		e.Captured(sound(r), sound(r, -60))
	}
	const late = 14 // in frames
	for i := range 50 {
		echo := math.Inf(-1)
		if i >= late {
			echo = -30
		}
		if _, ratio := e.Captured(sound(r, -18), sound(r, -60, echo)); i >= late && ratio < 0.9 {
			t.Fatalf("frame %d: ratio %v of an echo", i, ratio)
		}
	}
}

// TestEchoOfHiss: what was learnt about one octave is not applied to another.
func TestEchoOfHiss(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var e audio.Echo
	vowel := func(db float64) []int16 { // 200 Hz
		pcm := make([]int16, audio.Samples)
		for i := range pcm {
			pcm[i] = int16(32768 * math.Sqrt2 * math.Pow(10, db/20) * math.Sin(2*math.Pi*200*float64(i)/audio.Rate))
		}
		return pcm
	}
	for range 50 {
		e.Captured(sound(r), sound(r, -66))
	}
	for range 100 { // hardly anything of the low octaves comes back
		e.Captured(vowel(-20), vowel(-50))
	}
	for i := range 5 {
		if _, ratio := e.Captured(sound(r, -25), sound(r, -32)); ratio < 0.8 {
			t.Errorf("frame %d of a hiss: ratio %v", i, ratio)
		}
	}
	if _, ratio := e.Captured(vowel(-20), vowel(-30)); ratio > 0.2 {
		t.Errorf("somebody who hums: ratio %v", ratio)
	}
}

// TestEchoIsOver: when we and the room are silent, nothing counts as our own sound any more.
func TestEchoIsOver(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e audio.Echo
	own, echo := "", ""
	draw := func(to *string, yes bool) { *to += map[bool]string{true: "#", false: "."}[yes] }
	for i := range 60 {
		far, near := audio.Silence, -60.0
		if i >= 5 {
			near = -30
		}
		if i >= 5 && i < 20 {
			far = -20
		}
		ours, ratio := e.Captured(sound(r, far), sound(r, near))
		draw(&own, ours)
		draw(&echo, ratio > 0)
	}
	// The room rings for another eight frames, until it is faint. Since nobody knows how late an
	// echo is, one may come for a while after that.
	if want := ".....#######################" + strings.Repeat(".", 32); own != want {
		t.Errorf("own sound\n%s, want\n%s", own, want)
	}
	if from, last := strings.Index(echo, "#"), strings.LastIndex(echo, "#"); from != 5 || last < 35 || last > 45 {
		t.Errorf("echo\n%s", echo)
	}
}

func TestEchoAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	far, near := sound(r, -20), sound(r, -30)
	var e audio.Echo
	if n := testing.AllocsPerRun(100, func() { e.Captured(far, near) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkEcho(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	far, near := sound(r, -20), sound(r, -30)
	var e audio.Echo
	b.ReportAllocs()
	for b.Loop() {
		e.Captured(far, near)
	}
}
