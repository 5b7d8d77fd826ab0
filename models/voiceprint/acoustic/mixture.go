package acoustic

import "math"

// A Mixture divides sounds into a few kinds, such as vowels and hisses, so that voices are
// compared kind by kind and not by what they happened to say.
type Mixture [Kinds]Kind

// A Kind is one of them: a Gaussian over cepstra.
type Kind struct {
	Share    float64
	Mean     [Cepstra]float64
	Variance [Cepstra]float64
}

// Kinds is how many a mixture has. With more, a short utterance is divided too finely.
const Kinds = 2

// prepared is a mixture with precomputed values.
type prepared struct {
	kinds [Kinds]struct {
		mean  [Cepstra]float64
		half  [Cepstra]float64 // 1/2 variance
		sharp [Cepstra]float64 // 1/deviation
		log   float64          // of what stands before the exponential
	}
}

func (m *Mixture) prepare() *prepared {
	p := new(prepared)
	for k := range p.kinds {
		to, from := &p.kinds[k], &m[k]
		to.mean, to.log = from.Mean, math.Log(from.Share)
		for q, v := range &from.Variance {
			to.half[q], to.sharp[q] = 0.5/v, 1/math.Sqrt(v)
			to.log -= 0.5 * math.Log(2*math.Pi*v)
		}
	}
	return p
}

// shares fills in how likely c is of each kind.
func (m *prepared) shares(share *[Kinds]float64, c *[Cepstra]float64) {
	top := math.Inf(-1)
	for k := range m.kinds {
		kind := &m.kinds[k]
		sum := kind.log
		for q, v := range c {
			d := v - kind.mean[q]
			sum -= d * d * kind.half[q]
		}
		share[k] = sum
		top = max(top, sum)
	}
	total := 0.0
	for k, log := range share {
		share[k] = math.Exp(log - top)
		total += share[k]
	}
	for k := range share {
		share[k] /= total
	}
}

// Shares returns a function for how likely a window is of each kind; its result is valid until the
// next call.
func (m *Mixture) Shares() func(*[Cepstra]float64) *[Kinds]float64 {
	p, share := m.prepare(), new([Kinds]float64)
	return func(c *[Cepstra]float64) *[Kinds]float64 {
		p.shares(share, c)
		return share
	}
}
