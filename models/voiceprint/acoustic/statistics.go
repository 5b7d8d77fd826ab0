package acoustic

import "math"

// Raw is how many numbers describe an utterance: for each kind how the voice differs from it, how
// much the cepstra vary, the pitch and how much that varies.
const Raw = Kinds*Cepstra + Cepstra + 2

const (
	// few is the number of windows of a kind that have half weight.
	few = 4

	// fewHums is the same for pitches; usualPitch and usualSpan, in octaves,
	// stand in for those that are missing.
	fewHums    = 5
	usualPitch = 1.1
	usualSpan  = 0.1
)

// pitches is a histogram: so many to the octave, over three octaves.
const (
	steps   = 36
	octaves = 3
)

// statistics are what the windows of a voice come to. The zero value is of
// nothing.
type statistics struct {
	windows int
	share   [Kinds]float64
	off     [Kinds][Cepstra]float64
	sum     [Cepstra]float64
	squares [Cepstra]float64
	hums    int
	pitches [steps * octaves]int
}

// take takes in a window.
func (m *prepared) take(s *statistics, c *[Cepstra]float64) {
	s.windows++
	for q, v := range c {
		s.sum[q] += v
		s.squares[q] += v * v
	}
	var share [Kinds]float64
	m.shares(&share, c)
	for k, p := range &share {
		if p < 1e-3 {
			continue
		}
		s.share[k] += p
		mean, off := &m.kinds[k].mean, &s.off[k]
		for q, v := range c {
			off[q] += p * (v - mean[q])
		}
	}
}

// hum takes in a pitch, in octaves over 60 Hz; 0 is none.
func (s *statistics) hum(octave float64) {
	if octave <= 0 {
		return
	}
	s.hums++
	s.pitches[min(int(octave*steps), len(s.pitches)-1)]++
}

// quantile returns the pitch that a share of all are below.
func (s *statistics) quantile(share float64) float64 {
	want, below := share*float64(s.hums), 0.0
	for i, n := range &s.pitches {
		if n > 0 && below+float64(n) >= want {
			return (float64(i) + (want-below)/float64(n)) / steps
		}
		below += float64(n)
	}
	return octaves
}

// raw fills v with what s comes to.
func (m *prepared) raw(v *[Raw]float64, s *statistics) {
	at := 0
	for k := range s.off {
		for q, off := range &s.off[k] {
			v[at] = off / (s.share[k] + few) * m.kinds[k].sharp[q]
			at++
		}
	}
	n := max(float64(s.windows), 1)
	for q := range s.sum {
		mean := s.sum[q] / n
		v[at] = math.Log(1e-6 + math.Sqrt(max(0, s.squares[q]/n-mean*mean)))
		at++
	}
	v[at], v[at+1] = usualPitch, usualSpan
	if s.hums > 0 {
		trust := float64(s.hums) / float64(s.hums+fewHums)
		v[at] += trust * (s.quantile(0.5) - usualPitch)
		v[at+1] += trust * (s.quantile(0.75) - s.quantile(0.25) - usualSpan)
	}
}
