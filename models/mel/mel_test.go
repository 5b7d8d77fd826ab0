package mel_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/models/mel"
)

// sound returns a tone that rises and swells, with some noise and an offset.
func sound(n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		t := float64(i) / 16000
		x := 0.3 * math.Sin(2*math.Pi*(100*t+150*t*t)) * (0.5 + 0.5*math.Sin(2*math.Pi*3*t))
		noise := float64(uint64(i)*2654435761%65536)/32768 - 1
		pcm[i] = float32(x + 0.01*noise + 0.02)
	}
	return pcm
}

// TestGolden: a spectrogram is that of the code with which the model was trained.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, got, of := mel.New(), make([]float32, mel.Bands*mel.Frames), 0
	for line := range strings.Lines(string(text)) {
		var n, frame, band int
		var want float64
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &n, &frame, &band, &want); err != nil {
			t.Fatal(err)
		}
		if n != of {
			s.Compute(got, sound(n))
			of = n
		}
		if d := math.Abs(float64(got[band*mel.Frames+frame]) - want); d > 1e-4 {
			t.Errorf("of %d samples, band %d of frame %d is %v, want %v", n, band, frame, got[band*mel.Frames+frame], want)
		}
	}
}

// TestLoudness: how loud a sound is makes no difference, unless it is very short, and whatever it is, every value is a number
// within two of the greatest.
func TestLoudness(t *testing.T) {
	s := mel.New()
	soft, loud := make([]float32, mel.Bands*mel.Frames), make([]float32, mel.Bands*mel.Frames)
	rapid.Check(t, func(t *rapid.T) {
		pcm := sound(rapid.IntRange(4000, mel.Samples+1000).Draw(t, "samples"))
		s.Compute(soft, pcm)
		for i := range pcm {
			pcm[i] *= 3
		}
		s.Compute(loud, pcm)
		greatest := math.Inf(-1)
		for i := range soft {
			greatest = max(greatest, float64(soft[i]))
			if d := math.Abs(float64(soft[i] - loud[i])); !(d < 1e-2) {
				t.Fatalf("value %d is %v and %v", i, soft[i], loud[i])
			}
		}
		for _, v := range soft {
			if float64(v) < greatest-2.001 {
				t.Fatalf("%v is more than two below %v", v, greatest)
			}
		}
	})
}

// BenchmarkCompute measures 8 s.
func BenchmarkCompute(b *testing.B) {
	s, to, pcm := mel.New(), make([]float32, mel.Bands*mel.Frames), sound(mel.Samples)
	b.ReportAllocs()
	for b.Loop() {
		s.Compute(to, pcm)
	}
}
