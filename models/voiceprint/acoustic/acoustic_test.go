package acoustic_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// hum returns sound of duration d: pulses at the given pitch in Hz through one resonance.
func hum(pitch, formant, loud float64, d time.Duration) []audio.Frame {
	frames := make([]audio.Frame, d/audio.Time)
	var last, before, phase float64
	r := 0.97
	c := 2 * r * math.Cos(2*math.Pi*formant/audio.Rate)
	for i := range frames {
		frames[i].Voiced = true
		for j := range frames[i].PCM {
			pulse := 0.0
			if phase += pitch / audio.Rate; phase >= 1 {
				phase--
				pulse = loud
			}
			last, before = pulse+c*last-r*r*before, last
			frames[i].PCM[j] = int16(min(max(last, math.MinInt16), math.MaxInt16))
		}
	}
	return frames
}

func TestPitch(t *testing.T) {
	for _, hertz := range []float64{75, 100, 131, 180, 240, 320} {
		var a acoustic.Analyser
		frames := hum(hertz, 700, 3000, 400*time.Millisecond)
		for i := range frames {
			got := a.Step(&frames[i]).Pitch
			if i < 5 {
				continue // until there is enough to compare
			}
			if want := math.Log2(hertz / 60); math.Abs(got-want) > 0.03 {
				t.Errorf("%v Hz is %.3f octaves over 60 Hz, want %.3f", hertz, got, want)
				break
			}
		}
	}
}

// TestLevel: how loud a voice is does not affect the shape of its windows.
func TestLevel(t *testing.T) {
	var a, b acoustic.Analyser
	loud, soft := hum(120, 900, 4000, 200*time.Millisecond), hum(120, 900, 400, 200*time.Millisecond)
	for i := range loud {
		x, y := a.Step(&loud[i]).Windows(), b.Step(&soft[i]).Windows()
		if i < 2 {
			continue
		}
		if len(x) != 2 || len(y) != 2 {
			t.Fatalf("%d and %d windows in a frame", len(x), len(y))
		}
		if d := x[0].Level - y[0].Level; math.Abs(d-20) > 0.5 {
			t.Errorf("frame %d is %.1f dB louder, want 20", i, d)
		}
		for q := range x[0].Shape {
			if math.Abs(x[0].Shape[q]-y[0].Shape[q]) > 0.2 {
				t.Errorf("cepstrum %d of frame %d is %.2f loud and %.2f soft", q+1, i, x[0].Shape[q], y[0].Shape[q])
			}
		}
	}
}

func TestNothingHeard(t *testing.T) {
	clip := hum(120, 900, 3e6, 200*time.Millisecond)
	silence := make([]audio.Frame, 20)
	unvoiced := hum(120, 900, 3000, 200*time.Millisecond)
	for i := range silence {
		silence[i].Voiced = true
	}
	for i := range unvoiced {
		unvoiced[i].Voiced = false
	}
	for name, frames := range map[string][]audio.Frame{"clipped": clip, "silent": silence, "unvoiced": unvoiced} {
		var a acoustic.Analyser
		for i := range frames {
			if n := len(a.Step(&frames[i]).Windows()); n > 0 {
				t.Errorf("%s: %d windows", name, n)
			}
		}
	}
}

// some returns a model with arbitrary numbers.
func some(r *rapid.T) *acoustic.Model {
	seed := rapid.Float32Range(0.1, 3).Draw(r, "seed")
	m := &acoustic.Model{Recipe: rapid.String().Draw(r, "recipe")}
	next := float64(seed)
	number := func() float64 {
		next = math.Mod(next*7.13+0.37, 3) + 0.01
		return float64(float32(next))
	}
	for k := range m.Mixture {
		m.Mixture[k].Share = number()
		for q := range m.Mixture[k].Mean {
			m.Mixture[k].Mean[q], m.Mixture[k].Variance[q] = number(), number()
		}
	}
	for p := range m.Project {
		m.Within[p], m.Drift[p] = number(), number()
		for i := range m.Project[p] {
			m.Project[p][i] = -number()
		}
	}
	return m
}

func TestModelRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := some(r)
		file := m.Encode()
		got, err := acoustic.Decode(file)
		if err != nil {
			r.Fatal(err)
		}
		if *got != *m {
			r.Error("what was read is not what was written")
		}
		at := rapid.IntRange(0, len(file)-1).Draw(r, "at")
		broken := bytes.Clone(file)
		broken[at] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		if _, err := acoustic.Decode(broken); err == nil {
			r.Errorf("a file with a wrong bit at %d was read", at)
		}
		if _, err := acoustic.Decode(file[:at]); err == nil {
			r.Errorf("a file that ends at %d was read", at)
		}
	})
}

// TestEvidence: the evidence is the same in both directions.
func TestEvidence(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := some(r).Scales()
		numbers := rapid.SliceOfN(rapid.Float32Range(-8, 8), acoustic.Size, acoustic.Size)
		a, b := numbers.Draw(r, "a"), numbers.Draw(r, "b")
		if x, y := m.Evidence(a, b), m.Evidence(b, a); math.Abs(x-y) > 1e-9*(1+math.Abs(x)) {
			r.Errorf("%v one way, %v the other", x, y)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("earshot voices\n1\n"))
	f.Add((&acoustic.Model{}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := acoustic.Decode(b); err == nil && !bytes.Equal(m.Encode(), b) {
			t.Error("what was read is written otherwise")
		}
	})
}
