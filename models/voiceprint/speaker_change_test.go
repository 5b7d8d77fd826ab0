package voiceprint_test

import (
	"math"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

// turn steps through frames as a microphone does, and returns the frame at which another voice
// began and the one at which that was known, or -1.
func turn(frames []audio.Frame) (at, known int) {
	t := voiceprint.NewSpeakerChangeDetector()
	var a voiceprint.Analyser
	for i := range frames {
		s := a.Step(&frames[i])
		if frames[i].Own {
			s = nil
		}
		if turn, ok := t.Take(s); ok {
			return i + 1 - turn.Since, i + 1
		}
	}
	if turn, ok := t.Last(); ok {
		return len(frames) - turn.Since, len(frames)
	}
	return -1, -1
}

// hum returns a voice of duration d that hums: pulses at the given pitch in Hz through one
// resonance.
func hum(pitch, formant float64, d time.Duration) []audio.Frame {
	frames := make([]audio.Frame, d/audio.Time)
	var y1, y2, phase float64
	r, theta := 0.97, 2*math.Pi*formant/audio.Rate
	for i := range frames {
		frames[i].Voiced = true
		for j := range frames[i].PCM {
			pulse := 0.0
			if phase += pitch / audio.Rate; phase >= 1 {
				phase--
				pulse = 3000
			}
			y := pulse + 2*r*math.Cos(theta)*y1 - r*r*y2
			y1, y2 = y, y1
			frames[i].PCM[j] = int16(max(-32768, min(32767, y)))
		}
	}
	return frames
}

// babble returns a voice that hums syllables: like hum, with a resonance that wanders as in vowels.
func babble(pitch, size float64, d time.Duration) (frames []audio.Frame) {
	vowels := []float64{300, 700, 500, 850, 400, 620}
	for i := 0; time.Duration(len(frames))*audio.Time < d; i++ {
		frames = append(frames, hum(pitch*(1+0.02*float64(i%5)), size*vowels[i*i%len(vowels)], 100*time.Millisecond)...)
	}
	return frames[:d/audio.Time]
}

func TestTurns(t *testing.T) {
	const s = time.Second
	join := func(parts ...[]audio.Frame) (all []audio.Frame) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	own := babble(200, 1.3, 3*s)
	for i := range own {
		own[i].Own = true
	}
	for _, tt := range []struct {
		name   string
		frames []audio.Frame
		at     time.Duration // where another voice begins; 0 means nowhere
	}{
		{"one voice", babble(110, 1, 20*s), 0},
		{"two voices", join(babble(110, 1, 3*s), babble(200, 1.3, 3*s)), 3 * s},
		{"the second ends soon", join(babble(110, 1, 3*s), babble(200, 1.3, 1200*time.Millisecond)), 3 * s},
		{"the second hardly speaks", join(babble(110, 1, 3*s), babble(200, 1.3, s/2)), 0},
		{"the first hardly spoke", join(babble(110, 1, s/2), babble(200, 1.3, 3*s)), 0},
		{"after much", join(babble(110, 1, 15*s), babble(200, 1.3, 3*s)), 15 * s},
		{"the agent over it", join(babble(110, 1, 3*s), own), 0},
		{"longer than any", babble(110, 1, 60*s), 0},
		{"silence", make([]audio.Frame, 500), 0},
	} {
		at, known := turn(tt.frames)
		got, after := time.Duration(at)*audio.Time, time.Duration(known-at)*audio.Time
		if at < 0 {
			got = 0
		}
		if (got-tt.at).Abs() > 200*time.Millisecond || after > 2*s {
			t.Errorf("%s: changed at %v, known %v later, want %v", tt.name, got, after, tt.at)
		}
	}
}

func BenchmarkTurns(b *testing.B) {
	b.ReportAllocs()
	frames := babble(110, 1, 20*time.Second)
	t := voiceprint.NewSpeakerChangeDetector()
	var a voiceprint.Analyser
	for i := 0; b.Loop(); i++ {
		if i%len(frames) == 0 {
			t.Reset()
		}
		t.Take(a.Step(&frames[i%len(frames)]))
	}
}
