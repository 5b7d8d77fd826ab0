// Package mel computes the picture of sound that smart-turn takes: the logarithms of the energy in 80
// bands of 8 s, as Whisper's models have them.
//
// The formulas are those of transformers' WhisperFeatureExtractor with do_normalize, on which the model
// was trained: windows of Hann of 25 ms every 10 ms, centred and mirrored at both ends; bands on
// Slaney's scale of mels with equal areas; common logarithms of the power, at most 8 below the
// greatest.
//
// Nothing runs here, so there is no slow reader.
package mel

import (
	"math"

	"earshot/internal/audio"
)

// The size of a spectrogram.
const (
	Bands   = 80
	Frames  = 800
	Samples = Frames * hop
)

const (
	points = 400 // of a transform, 25 ms
	hop    = audio.Rate / 100

	// faintest is the least power that counts.
	faintest = 1e-10

	// depth is how far below the greatest a logarithm may be.
	depth = 8
)

// A Spectrogram computes one after the other in the same memory. It is for one goroutine.
type Spectrogram struct {
	window [points]float64
	bands  [Bands]band
	turns  [points]complex128 // exp(-2πi k/points)

	padded      [Samples + points]float64
	in, out     [points]complex128
	logarithms  [Frames][Bands]float64
	power, next [points/2 + 1]float64 // of two frames
}

// A band is a triangle over frequencies.
type band struct {
	first   int // frequency
	weights []float64
}

// New returns one.
func New() *Spectrogram {
	s := new(Spectrogram)
	for k := range points {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / points)
		s.window[k], s.turns[k] = 0.5-0.5*cos, complex(cos, sin)
	}
	highest := mels(audio.Rate / 2)
	edge := func(i int) float64 { return hertz(highest * float64(i) / (Bands + 1)) }
	for i := range s.bands {
		s.bands[i] = newBand(edge(i), edge(i+1), edge(i+2))
	}
	return s
}

// newBand returns the triangle of area 1, in hertz, between these frequencies.
func newBand(low, peak, high float64) (b band) {
	for k := range points/2 + 1 {
		f := float64(k) * audio.Rate / points
		w := min((f-low)/(peak-low), (high-f)/(high-peak)) * 2 / (high - low)
		if w <= 0 {
			continue
		}
		if b.weights == nil {
			b.first = k
		}
		b.weights = append(b.weights, w)
	}
	return b
}

// On Slaney's scale, 1000 Hz are 15 mels. Below it is linear, and above logarithmic.
var perMel = math.Log(6.4) / 27

func mels(hertz float64) float64 {
	if hertz < 1000 {
		return hertz * 3 / 200
	}
	return 15 + math.Log(hertz/1000)/perMel
}

func hertz(mels float64) float64 {
	if mels < 15 {
		return mels * 200 / 3
	}
	return 1000 * math.Exp(perMel*(mels-15))
}

// Compute fills to, band by band, with the spectrogram of the last 8 s of pcm, before which it was
// silent if they are fewer. To has Bands × Frames elements.
func (s *Spectrogram) Compute(to, pcm []float32) {
	s.pad(pcm[max(0, len(pcm)-Samples):])
	greatest := math.Inf(-1)
	for t := 0; t < Frames; t += 2 {
		s.powers(t)
		greatest = max(greatest, s.weigh(t, &s.power), s.weigh(t+1, &s.next))
	}
	for t := range s.logarithms {
		for b, l := range s.logarithms[t] {
			to[b*Frames+t] = float32((max(l, greatest-depth) + 4) / 4)
		}
	}
}

// pad brings sound to mean 0 and variance 1, with silence before and mirrors at both ends.
func (s *Spectrogram) pad(pcm []float32) {
	sound := s.padded[points/2 : points/2+Samples]
	silent := len(sound) - len(pcm)
	clear(sound[:silent])
	sum, squares := 0.0, 0.0
	for i, v := range pcm {
		sound[silent+i] = float64(v)
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / Samples
	scale := 1 / math.Sqrt(squares/Samples-mean*mean+1e-7)
	for i, v := range sound {
		sound[i] = (v - mean) * scale
	}
	for i := range points / 2 {
		s.padded[points/2-1-i] = sound[1+i]
		s.padded[points/2+Samples+i] = sound[Samples-2-i]
	}
}

// powers fills power and next with those of two frames, which are transformed as the real and the
// imaginary part of one.
func (s *Spectrogram) powers(t int) {
	one, two := s.padded[t*hop:], s.padded[(t+1)*hop:]
	for i, w := range s.window {
		s.in[i] = complex(w*one[i], w*two[i])
	}
	s.transform(s.out[:], s.in[:], 1)
	for k := range s.power {
		a, b := s.out[k], s.out[(points-k)%points]
		s.power[k] = (sqr(real(a)+real(b)) + sqr(imag(a)-imag(b))) / 4
		s.next[k] = (sqr(imag(a)+imag(b)) + sqr(real(a)-real(b))) / 4
	}
}

func sqr(x float64) float64 { return x * x }

// transform writes the Fourier transform of every stride-th element of in to out, by those of its
// fifths, of which the smallest have a length that is a power of two.
func (s *Spectrogram) transform(out, in []complex128, stride int) {
	m := len(out) / 5
	if len(out)%5 != 0 {
		for i := range out {
			out[i] = in[i*stride]
		}
		audio.Transform(out)
		return
	}
	for p := range 5 {
		s.transform(out[p*m:(p+1)*m], in[p*stride:], 5*stride)
	}
	one, two := s.turns[points/5], s.turns[2*points/5]
	three, four := s.turns[3*points/5], s.turns[4*points/5]
	for k := range m {
		a, b, c := out[k], out[m+k]*s.turns[k*stride], out[2*m+k]*s.turns[2*k*stride]
		d, e := out[3*m+k]*s.turns[3*k*stride], out[4*m+k]*s.turns[4*k*stride]
		out[k] = a + b + c + d + e
		out[m+k] = a + b*one + c*two + d*three + e*four
		out[2*m+k] = a + b*two + c*four + d*one + e*three
		out[3*m+k] = a + b*three + c*one + d*four + e*two
		out[4*m+k] = a + b*four + c*three + d*two + e*one
	}
}

// weigh computes the logarithms of a frame, and returns the greatest.
func (s *Spectrogram) weigh(t int, power *[points/2 + 1]float64) float64 {
	greatest := math.Inf(-1)
	for b := range s.bands {
		sum := 0.0
		for i, w := range s.bands[b].weights {
			sum += w * power[s.bands[b].first+i]
		}
		l := math.Log10(max(sum, faintest))
		s.logarithms[t][b], greatest = l, max(greatest, l)
	}
	return greatest
}
