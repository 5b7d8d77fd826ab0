package audio

import (
	"math"
	"math/bits"
)

// points is how many samples a spectrum is of: the shortest power of two in which
// the harmonics of a voice come apart, 32 ms.
const points = 512

// A spectrum is that of two sounds.
type spectrum [points]complex128

// taper is a window of Hann: what is in one band does not spill into those far away.
var taper = func() (w [points]float64) {
	for i := range w {
		w[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/points)
	}
	return w
}()

// turns are exp(-2πi k/points).
var turns = func() (t [points / 2]complex128) {
	for k := range t {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / points)
		t[k] = complex(cos, sin)
	}
	return t
}()

// Transform replaces s by its Fourier transform, with the fast algorithm. The length of s is a power
// of two, at most 512.
func Transform(s []complex128) {
	shift := 64 - bits.TrailingZeros(uint(len(s)))
	for i := range s {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			s[i], s[j] = s[j], s[i]
		}
	}
	for size := 2; size <= len(s); size *= 2 {
		for from := 0; from < len(s); from += size {
			for k := range size / 2 {
				a, b := &s[from+k], &s[from+k+size/2]
				turned := turns[k*(points/size)] * *b
				*a, *b = *a+turned, *a-turned
			}
		}
	}
}

// pair returns the powers at frequency k of the two sounds of which one was the real
// part and the other the imaginary one.
func (s *spectrum) pair(k int) (one, other float64) {
	a, b := s[k], s[points-k]
	re, im := real(a)+real(b), imag(a)-imag(b)
	re2, im2 := imag(a)+imag(b), real(b)-real(a)
	return (re*re + im*im) / 4, (re2*re2 + im2*im2) / 4
}
