package acoustic

import (
	"math"

	"earshot/internal/audio"
)

// How sound is cut into windows: 25 ms every 10 ms, as recognisers do; a power
// of two holds one.
const (
	window = 400
	hop    = 160
	points = 512
	half   = points / 2
)

// The bands of the ear: below is hum, above is what a cheap microphone leaves
// out.
const (
	bands    = 26
	lowest   = 100.0  // Hz
	highest  = 6800.0 // Hz
	emphasis = 0.97   // of the sample before, taken off: a voice falls by 6 dB an octave
)

// tables are what a spectrum is made with, the same for all.
type tables struct {
	taper   [window]float64
	turn    [half]complex128 // exp(-2πi k/points)
	band    [half + 1]int8   // the band that a point belongs to from below, -1 outside
	share   [half + 1]float64
	cosines [Cepstra][bands]float64
}

var shared = newTables()

func newTables() *tables {
	t := new(tables)
	for i := range t.taper {
		t.taper[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/(window-1))
	}
	for i := range t.turn {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / points)
		t.turn[i] = complex(cos, sin)
	}
	t.spread()
	for q := range t.cosines {
		for b := range t.cosines[q] {
			t.cosines[q][b] = math.Sqrt(2.0/bands) * math.Cos(math.Pi*float64(q+1)*(float64(b)+0.5)/bands)
		}
	}
	return t
}

// mel returns how high the ear takes a frequency for.
func mel(hertz float64) float64 { return 1127 * math.Log1p(hertz/700) }

// spread lays triangles over the spectrum: what is between the middles of two
// bands belongs to both, by its distance.
func (t *tables) spread() {
	const hertz = 16000.0 / points
	step := (mel(highest) - mel(lowest)) / (bands + 1)
	for i := range t.band {
		at := (mel(float64(i)*hertz) - mel(lowest)) / step // the middle of band b is at b+1
		if at < 0 || at >= bands+1 {
			t.band[i] = -2
			continue
		}
		t.band[i] = int8(at) - 1 // from -1, below the middle of the first
		t.share[i] = at - math.Floor(at)
	}
}

// A spectrum turns windows of sound into Cepstra. It holds what is worked with.
type spectrum struct {
	work   [half]complex128
	energy [bands]float64
}

// cepstrum fills c with the shape of the spectrum of pcm, and reports whether
// there was one: silence has none. The level of pcm leaves no trace in it.
func (s *spectrum) cepstrum(c *[Cepstra]float64, pcm *[window + 1]float64) bool {
	s.transform(pcm)
	s.sum()
	total := 0.0
	for _, e := range s.energy {
		total += e
	}
	if !(total > 0) {
		return false
	}
	floor := total / bands * floored
	for b, e := range s.energy {
		s.energy[b] = math.Log(e + floor)
	}
	for q := range c {
		sum := 0.0
		for b, cos := range &shared.cosines[q] {
			sum += cos * s.energy[b]
		}
		c[q] = sum
	}
	return true
}

// floored is how much of the mean energy of a band is added to each, -30 dB: what
// is softer is drowned by a room anyway, and would differ between two.
const floored = 1e-3

// transform fills work with the Fourier transform of half as many points whose
// real parts are the even samples and imaginary parts the odd ones. The first
// sample of pcm is only there for the emphasis of the second.
func (s *spectrum) transform(pcm *[window + 1]float64) {
	t := shared
	at := func(i int) float64 { return (pcm[i+1] - emphasis*pcm[i]) * t.taper[i] }
	clear(s.work[:])
	for i := range window / 2 {
		s.work[i] = complex(at(2*i), at(2*i+1))
	}
	audio.Transform(s.work[:])
}

// sum adds up the energy in each band.
func (s *spectrum) sum() {
	t := shared
	s.energy = [bands]float64{}
	for k := 1; k < half; k++ {
		b := t.band[k]
		if b == -2 {
			continue
		}
		one, other := s.work[k], s.work[half-k]
		other = complex(real(other), -imag(other))
		v := one + other + t.turn[k]*(one-other)*complex(0, -1) // twice as much: no level counts
		e := real(v)*real(v) + imag(v)*imag(v)
		if b >= 0 {
			s.energy[b] += e * (1 - t.share[k])
		}
		if b+1 < bands {
			s.energy[b+1] += e * t.share[k]
		}
	}
}
