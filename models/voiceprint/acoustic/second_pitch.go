package acoustic

import "math"

const (
	// loudLeft is how much of the energy must be left when the first pitch is
	// taken out, -11 dB: of one voice less is.
	loudLeft = 0.08

	// plain is the correlation from which on what is left has a pitch: more than
	// for the first one, as a rough voice leaves something too.
	plain = 0.7

	// apart is by how much, as a factor, the second pitch must miss every simple
	// multiple and part of the first one.
	apart = 0.06
)

// related are those multiples and parts.
var related = [...]float64{1, 2, 3, 4, 5, 1.0 / 2, 1.0 / 3, 1.0 / 4, 3.0 / 2, 2.0 / 3}

// pitches returns how high the voice is that was heard last, and whether another hums at
// the same time: what is left of the sound when its own pitch is taken out has another
// one.
func (a *Analyser) pitches() (first float64, two bool) {
	now := slow(a.low[longest+1:])
	_, first = now.pitch(hums)
	if first == 0 {
		return 0, false
	}
	rest, share := a.without(slowRate / (deep * math.Exp2(first)))
	if share < loudLeft {
		return first, false
	}
	_, second := rest.pitch(plain)
	return first, second > 0 && stranger(math.Exp2(second-first))
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
func (a *Analyser) without(lag float64) (rest slow, share float64) {
	whole := min(int(lag), longest)
	part := lag - float64(whole)
	all, left := 1.0, 0.0
	for i := range rest {
		at := i + longest + 1
		before := (1-part)*a.low[at-whole] + part*a.low[at-whole-1]
		rest[i] = (a.low[at] - before) / 2
		if i >= memory-piece {
			all += a.low[at] * a.low[at]
			left += rest[i] * rest[i]
		}
	}
	return rest, left / all
}
