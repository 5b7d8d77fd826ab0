package cast

import (
	"math"

	"earshot/internal/audio"
)

// fine is how many values of the kernel are kept for a sample.
const fine = 256

// resample brings pcm from one rate to [audio.Rate], by a windowed sinc.
func resample(pcm []float64, from float64) []float64 {
	step := from / audio.Rate
	if math.Abs(step-1) < 1e-9 {
		return pcm
	}
	cut := min(1, 1/step) * 0.95
	reach := 16 / cut
	kernel := kernel(cut, reach)
	out := make([]float64, int(float64(len(pcm))/step))
	for i := range out {
		at := float64(i) * step
		sum := 0.0
		for k := max(int(math.Ceil(at-reach)), 0); k <= min(int(at+reach), len(pcm)-1); k++ {
			sum += pcm[k] * kernel[int(math.Abs(at-float64(k))*fine+0.5)]
		}
		out[i] = sum
	}
	return out
}

// kernel returns half of a sinc that lets pass what is below cut, a share of the
// highest frequency, tapered over so many samples.
func kernel(cut, reach float64) []float64 {
	half := make([]float64, int(reach*fine)+3)
	for i := range half {
		if d := float64(i) / fine; d < reach {
			half[i] = cut * audio.Sinc(cut*d) * (0.5 + 0.5*math.Cos(math.Pi*d/reach))
		}
	}
	return half
}
