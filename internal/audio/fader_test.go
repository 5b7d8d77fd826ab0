package audio_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// sample is the duration of one sample.
const sample = time.Second / audio.Rate

func TestFader(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   string // g/n sets a gain within n samples; each dot is a sample of 800
		want string
	}{
		{"untouched", "...", "800 800 800"},
		{"at once", ". 0/0 ..", "800 0 0"},
		{"down", ". 0.5/4 .....", "800 700 600 500 400 400"},
		{"down and up", "0/4 .... 1/2 ...", "600 400 200 0 400 800 800"},
		{"turned round on the way", "0/4 .. 1/2 ...", "600 400 600 800 800"},
		{"louder", "2/2 ...", "1200 1600 1600"},
		{"far too loud", "1e9/0 ..", "25600 25600"},
		{"endless", "+Inf/0 ..", "25600 25600"},
		{"below nothing", "-1/2 ...", "400 0 0"},
		{"no number", "NaN/2 ...", "400 0 0"},
		{"into the past", "0/-3 ..", "0 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f audio.Fader
			var got []string
			for _, word := range strings.Fields(tt.do) {
				var gain float64
				var n int
				if _, err := fmt.Sscanf(word, "%g/%d", &gain, &n); err == nil {
					f.Set(gain, time.Duration(n)*sample)
					continue
				}
				for range word {
					pcm := []int16{800}
					f.Apply(pcm)
					got = append(got, fmt.Sprint(pcm[0]))
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q gave %s, want %s", tt.do, got, tt.want)
			}
		})
	}
}

// TestFaderNeverClicks: whatever is set, and when, the gain moves from one sample to the next by no
// more than the ramp allows, and is right at the end of the ramp.
func TestFaderNeverClicks(t *testing.T) {
	const full = 1000
	rapid.Check(t, func(t *rapid.T) {
		var f audio.Fader
		last := 1.0
		for range rapid.IntRange(1, 5).Draw(t, "ramps") {
			goal := rapid.Float64Range(0, 32).Draw(t, "gain")
			ramp := rapid.IntRange(1, 200).Draw(t, "ramp")
			step := math.Abs(goal-last) / float64(ramp)
			f.Set(goal, time.Duration(ramp)*sample)
			pcm := slices.Repeat([]int16{full}, rapid.IntRange(1, 300).Draw(t, "samples"))
			before := last
			f.Apply(pcm)
			for i, s := range pcm {
				now := float64(s) / full
				if math.Abs(now-before) > step+0.0011 {
					t.Fatalf("sample %d jumps from %v to %v; steps are %v", i, before, now, step)
				}
				before = now
			}
			last = f.Gain()
			if ended := len(pcm) >= ramp; ended == f.Moving() || ended && math.Abs(last-goal) > 1e-12 {
				t.Fatalf("after %d samples of %d the gain is %v, on its way to %v", len(pcm), ramp, last, goal)
			}
		}
	})
}

func TestFaderNeverOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f audio.Fader
		gain := rapid.Float64().Draw(t, "gain")
		f.Set(gain, 0)
		was := rapid.SliceOf(rapid.Int16()).Draw(t, "pcm")
		pcm := slices.Clone(was)
		f.Apply(pcm)
		for i, s := range pcm {
			if s != 0 && (s < 0) != (was[i] < 0) {
				t.Fatalf("%d became %d", was[i], s)
			}
		}
	})
}

func TestDecibels(t *testing.T) {
	for db, want := range map[float64]float64{0: 1, 20: 10, -20: 0.1, -12: 0.2512, -6.0206: 0.5} {
		if got := audio.Decibels(db); math.Abs(got-want) > 1e-4 {
			t.Errorf("%v dB is %v, want %v", db, got, want)
		}
	}
}

func TestFaderAllocatesNothing(t *testing.T) {
	var f audio.Fader
	pcm := make([]int16, audio.Samples)
	if n := testing.AllocsPerRun(100, func() {
		f.Set(0.25, 10*time.Millisecond)
		f.Apply(pcm)
		f.Set(1, 10*time.Millisecond)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFader(b *testing.B) {
	var f audio.Fader
	f.Set(audio.Decibels(-12), 0)
	pcm := make([]int16, audio.Samples)
	b.ReportAllocs()
	for b.Loop() {
		f.Apply(pcm)
	}
}
