package cast_test

import (
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint/cast"
)

// crossings returns how often a wave rises through zero in a second.
func crossings(pcm []float64) float64 {
	n := 0
	for i := 1; i < len(pcm); i++ {
		if pcm[i-1] < 0 && pcm[i] >= 0 {
			n++
		}
	}
	return float64(n) * audio.Rate / float64(len(pcm))
}

func tone(hertz, loud float64) []float64 {
	pcm := make([]float64, audio.Rate)
	for i := range pcm {
		pcm[i] = loud * math.Sin(2*math.Pi*hertz*float64(i)/audio.Rate)
	}
	return pcm
}

func level(pcm []float64) float64 {
	sum := 0.0
	for _, v := range pcm {
		sum += v * v
	}
	return 10 * math.Log10(sum/float64(len(pcm)))
}

// power returns the mean power of samples.
func power(pcm []float64) (sum float64) {
	for _, s := range pcm {
		sum += s * s
	}
	return sum / float64(len(pcm))
}

// TestSay: a person says the same thing in the same way each time; a faster pace makes it shorter,
// and another body does not change its length.
func TestSay(t *testing.T) {
	for _, engine := range []string{cast.Flite, cast.Espeak} {
		if _, err := exec.LookPath(engine); err != nil {
			t.Skip("there is no " + engine)
		}
	}
	for _, p := range []cast.Person{
		{Engine: cast.Flite, Voice: "slt", Tract: 1, Pitch: 1, Pace: 1},
		{Engine: cast.Espeak, Voice: "en-us+f2", Tract: 1, Pitch: 1, Pace: 1},
	} {
		say := func(p cast.Person, m cast.Mood) []float64 {
			pcm, err := p.Say(t.Context(), m, "open the door")
			if err != nil {
				t.Fatal(err)
			}
			return pcm
		}
		plain, again, hasty := say(p, cast.Calm), say(p, cast.Calm), say(p, cast.Mood{Pitch: 1, Pace: 1.3})
		// In about one of a hundred times espeak-ng says it a little differently.
		if alike := power(again) / power(plain); math.Abs(float64(len(again))/float64(len(plain))-1) > 0.02 || math.Abs(alike-1) > 0.1 {
			t.Errorf("%s says it otherwise the second time: %d samples for %d, %.2f of the power", p.Voice, len(again), len(plain), alike)
		}
		if len(hasty) > len(plain)*9/10 {
			t.Errorf("%s needs %d samples in haste and %d else", p.Voice, len(hasty), len(plain))
		}
		p.Tract = 1.1
		if n := len(say(p, cast.Calm)); math.Abs(float64(n)/float64(len(plain))-1) > 0.1 {
			t.Errorf("%s with a smaller head needs %d samples, not %d", p.Voice, n, len(plain))
		}
	}
	if _, err := (cast.Person{Engine: cast.Espeak, Voice: "nobody", Tract: 1, Pitch: 1, Pace: 1}).Say(t.Context(), cast.Calm, "x"); err == nil {
		t.Error("nobody says something")
	}
}

func TestChannels(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 1))
	in := tone(440, 3000)
	for _, c := range []cast.Channel{cast.Clean, cast.Dull, cast.Room, cast.Some(1), cast.Some(2)} {
		out := c.Through(in, luck)
		if len(out) < len(in) || in[100] != tone(440, 3000)[100] {
			t.Errorf("%s: %d samples of %d, or other ones", c.Name, len(out), len(in))
		}
	}
	if got, want := level(cast.Dull.Through(in, luck)), level(in)-12; math.Abs(got-want) > 1 {
		t.Errorf("dull it has %.1f dB, want %.1f", got, want)
	}
	high := level(cast.Dull.Through(tone(7000, 3000), luck))
	if low := level(cast.Dull.Through(in, luck)); low < high+6 {
		t.Errorf("dull, 440 Hz has %.1f dB and 7 kHz %.1f", low, high)
	}
	if n := crossings(cast.Clean.Through(in, luck)); math.Abs(n-440) > 5 {
		t.Errorf("440 Hz are %.0f", n)
	}
}

// TestFrames: a frame is voiced while the voice is loud, and for 100 ms after that.
func TestFrames(t *testing.T) {
	pcm := append(tone(200, 3000)[:audio.Rate/2], make([]float64, audio.Rate/2)...)
	frames := cast.Frames(pcm)
	for i, f := range frames {
		if want := i < 30; f.Voiced != want {
			t.Errorf("frame %d of %d is voiced: %v", i, len(frames), f.Voiced)
		}
	}
	if d := cast.Voiced(frames); d != 600*time.Millisecond {
		t.Errorf("%v of a voice are in it, want 0.6 s", d)
	}
	if len(cast.Frames(nil)) != 0 {
		t.Error("nothing has frames")
	}
}
