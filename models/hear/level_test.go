package hear_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/hear"
)

// A listener feeds an ear with sound that the voice detector takes for a voice throughout, so that
// only the level decides.
type listener struct {
	*hear.Ear
	f     audio.Frame
	edges []hear.Edge
}

func newListener() *listener {
	return &listener{
		Ear: hear.New(hear.DefaultConfig()), f: audio.Frame{At: epoch, Voiced: true},
	}
}

// hears feeds the sound given by wave as a function of the time in seconds, and returns how much of
// it was within an utterance.
func (l *listener) hears(d time.Duration, wave func(t float64) float64) (open time.Duration) {
	inside := false
	for range int(d / audio.Time) {
		at := float64(l.f.At.Sub(epoch)) / float64(time.Second)
		for i := range l.f.PCM {
			x := wave(at + float64(i)/audio.Rate)
			l.f.PCM[i] = int16(max(-1, min(x, 1)) * math.MaxInt16)
		}
		e := l.Step(&l.f)
		l.f.At = l.f.At.Add(audio.Time)
		switch e {
		case hear.None:
		case hear.Lasts:
			inside = true
			l.edges = append(l.edges, e)
		default:
			inside = false
			l.edges = append(l.edges, e)
		}
		if inside {
			open += audio.Time
		}
	}
	return open
}

func amplitude(db float64) float64 { return math.Pow(10, db/20) * math.Sqrt2 }

func noise(db float64) func(float64) float64 {
	r := rand.New(rand.NewPCG(1, 2))
	return func(float64) float64 { return r.NormFloat64() * math.Pow(10, db/20) }
}

func hum(db float64) func(float64) float64 {
	return func(t float64) float64 {
		return amplitude(db) / 1.12 * (math.Sin(2*math.Pi*50*t) + 0.5*math.Sin(2*math.Pi*150*t))
	}
}

// music returns a chord without pauses at the level db, swelling by 4 dB.
func music(db float64) func(float64) float64 {
	return func(t float64) (x float64) {
		for _, hz := range []float64{220, 277, 330, 440} {
			x += math.Sin(2*math.Pi*hz*t) / 2
		}
		return x * amplitude(db) / math.Sqrt2 * (1 + 0.25*math.Sin(2*math.Pi*0.7*t))
	}
}

// voice returns five syllables a second, with gaps of 40 ms in between.
func voice(db float64) func(float64) float64 {
	return func(t float64) float64 {
		if math.Mod(t, 0.2) > 0.16 {
			return 0
		}
		return amplitude(db) * math.Sin(2*math.Pi*140*t)
	}
}

func sum(a, b func(float64) float64) func(float64) float64 {
	return func(t float64) float64 { return a(t) + b(t) }
}

// TestFloor: a sound that is always there is no voice, and a voice above it is heard.
func TestFloor(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sound func(float64) float64
		speak float64 // level of the voice, in dB
	}{
		{"a fan", noise(-45), -25},
		{"a loud fan", noise(-38), -22},
		{"a hum", hum(-42), -25},
		{"a music", music(-45), -25},
		{"a quiet room", noise(-75), -50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newListener()
			l.hears(6*time.Second, tt.sound) // until the ear knows it
			if open := l.hears(8*time.Second, tt.sound); open > 0 {
				t.Errorf("taken for a voice for %v", open)
			}
			if open := l.hears(3*time.Second, sum(tt.sound, voice(tt.speak))); open < 2500*time.Millisecond {
				t.Errorf("of 3s of voice %v were heard", open)
			}
			if open := l.hears(2*time.Second, tt.sound); open > 500*time.Millisecond {
				t.Errorf("went on for %v after the voice", open)
			}
		})
	}
}

// TestVoiceIsNoFloor: a voice without pauses is not taken for the noise floor, however long it
// lasts.
func TestVoiceIsNoFloor(t *testing.T) {
	for _, db := range []float64{-50, -30, -15, -3} {
		l := newListener()
		l.hears(time.Second, noise(-70))
		if open := l.hears(10*time.Second, sum(noise(-70), voice(db))); open < 9500*time.Millisecond {
			t.Errorf("at %v dB: of 10s %v were heard, with %v", db, open, l.edges)
		}
	}
}

// TestFloorFalls: a noise that ends does not leave the ear deaf.
func TestFloorFalls(t *testing.T) {
	l := newListener()
	l.hears(10*time.Second, noise(-38))
	l.hears(time.Second/5, noise(-65))
	if open := l.hears(time.Second, voice(-45)); open < 800*time.Millisecond {
		t.Errorf("of 1s %v were heard", open)
	}
}

// TestLossIsNoFloor: if a device delivers nothing for a while, that says nothing about the noise of
// the room.
func TestLossIsNoFloor(t *testing.T) {
	l := newListener()
	l.hears(6*time.Second, noise(-45))
	l.f.Lost = 500
	l.hears(audio.Time, noise(-45))
	l.f.Lost = 0
	if open := l.hears(3*time.Second, noise(-45)); open > 0 {
		t.Errorf("what was there before is taken for a voice for %v", open)
	}
}

func TestZero(t *testing.T) {
	l := newListener()
	still := func(float64) float64 { return 0 }
	l.hears(3*time.Second, still)
	if got := l.Zero(); got != 3*time.Second {
		t.Errorf("%v of zeros, want 3s", got)
	}
	l.hears(time.Second, func(float64) float64 { return 1.5 / math.MaxInt16 }) // only the lowest bit
	if got := l.Zero(); got != 0 {
		t.Errorf("%v of zeros, want none", got)
	}
}
