package audio

import "math"

const (
	// fine is how many values of a resampler's kernel are kept for a sample.
	fine = 256

	// lobes is how many zero crossings of the sinc are kept on each side. With 16 of them the
	// highest tenth of the band fades, and what would be mirrored is 60 dB down.
	lobes = 16
)

// A Resampler changes the rate of a stream of samples, by a sinc with a window of Hann. It is for
// one goroutine.
type Resampler struct {
	step   float64 // samples of the input for one of the output
	reach  float64 // of the kernel, in samples of the input
	kernel []float64
	in     []float64 // that are still needed
	at     float64   // where in them the next sample of the output is
}

// NewResampler returns a resampler between two rates, in samples per second.
func NewResampler(from, to int) *Resampler {
	r := &Resampler{step: float64(from) / float64(to)}
	cut := min(1, 1/r.step) * 0.95
	r.reach = lobes / cut
	r.kernel = make([]float64, int(r.reach*fine)+2)
	for i := range r.kernel {
		if d := float64(i) / fine; d < r.reach {
			r.kernel[i] = cut * Sinc(cut*d) * (0.5 + 0.5*math.Cos(math.Pi*d/r.reach))
		}
	}
	r.in = make([]float64, int(r.reach)+1) // silence before the beginning
	r.at = float64(len(r.in))
	return r
}

// Append takes the next samples, and appends to out what they determine: all but the last
// milliseconds, which depend on what follows.
func (r *Resampler) Append(out, pcm []int16) []int16 {
	if r.step == 1 {
		return append(out, pcm...)
	}
	for _, s := range pcm {
		r.in = append(r.in, float64(s))
	}
	for ; r.at+r.reach < float64(len(r.in)); r.at += r.step {
		out = append(out, r.sample())
	}
	if done := int(r.at - r.reach); done > 0 {
		r.in = r.in[:copy(r.in, r.in[done:])]
		r.at -= float64(done)
	}
	return out
}

// Behind returns by how many samples of the input the next sample of the output is before what is
// taken next.
func (r *Resampler) Behind() float64 { return float64(len(r.in)) - r.at }

// Flush appends the rest, as if silence followed, and makes the resampler ready for another stream.
func (r *Resampler) Flush(out []int16) []int16 {
	if r.step == 1 {
		return out
	}
	out = r.Append(out, make([]int16, int(r.reach)+1))
	clear(r.in)
	r.in = r.in[:int(r.reach)+1]
	r.at = float64(len(r.in))
	return out
}

// sample returns the sample of the output at r.at.
func (r *Resampler) sample() int16 {
	sum := 0.0
	for k := int(math.Ceil(r.at - r.reach)); k < int(r.at+r.reach)+1; k++ {
		sum += r.in[k] * r.kernel[int(math.Abs(r.at-float64(k))*fine+0.5)]
	}
	return int16(min(max(math.Round(sum), math.MinInt16), math.MaxInt16))
}
