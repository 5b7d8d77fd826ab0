package acoustic

import (
	"math"

	"earshot/internal/audio"
)

// A Crowd listens for two voices that hum at the same time: what is left of a
// sound when its own pitch is taken out has another one. It is used from one
// goroutine; its zero value has heard nothing.
type Crowd struct {
	low [memory + longest + 1]float64 // samples at a quarter of the rate
}

const (
	// loudLeft is how much of the energy must be left when the first pitch is
	// taken out, -11 dB: of one voice less is.
	loudLeft = 0.08

	// clear is the correlation from which on what is left has a pitch: more than
	// for the first one, as a rough voice leaves something too.
	clear = 0.7

	// apart is by how much, as a factor, the second pitch must miss every simple
	// multiple and part of the first one.
	apart = 0.06
)

// related are those multiples and parts.
var related = [...]float64{1, 2, 3, 4, 5, 1.0 / 2, 1.0 / 3, 1.0 / 4, 3.0 / 2, 2.0 / 3}

// Step takes in 20 ms, and reports whether there was a pitch in it, and whether
// there were two. It allocates nothing.
func (c *Crowd) Step(f *audio.Frame) (one, two bool) {
	if f.Lost > 0 {
		*c = Crowd{}
	}
	deepen(c.low[:], f)
	if !f.Voiced || clipped(&f.PCM) {
		return false, false
	}
	now := slow(c.low[longest+1:])
	first := now.pitch(hums)
	if first == 0 {
		return false, false
	}
	rest, share := c.without(slowRate / (deep * math.Exp2(first)))
	if share < loudLeft {
		return true, false
	}
	second := rest.pitch(clear)
	return true, second > 0 && stranger(math.Exp2(second-first))
}

// stranger reports whether a pitch that is so many times another can be somebody
// else's.
func stranger(times float64) bool {
	for _, r := range related {
		if math.Abs(times/r-1) < apart {
			return false
		}
	}
	return true
}

// without returns the last samples with what repeats after lag taken out, and
// which share of the energy of the last piece is left.
func (c *Crowd) without(lag float64) (rest slow, share float64) {
	whole := min(int(lag), longest)
	part := lag - float64(whole)
	all, left := 1.0, 0.0
	for i := range rest {
		at := i + longest + 1
		before := (1-part)*c.low[at-whole] + part*c.low[at-whole-1]
		rest[i] = (c.low[at] - before) / 2
		if i >= memory-piece {
			all += c.low[at] * c.low[at]
			left += rest[i] * rest[i]
		}
	}
	return rest, left / all
}
