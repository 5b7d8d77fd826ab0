package audio

import "math"

// In how many bands a residue is followed, and from where to where, in Hz: what is
// below is hum, what is above no microphone of a headset has. They are as wide as
// the ear has them: where our own voice has a harmonic another has a gap.
const (
	bands   = 24
	lowest  = 150.0
	highest = 7200.0
)

const (
	// mostly is of how many frames of echo, as a part, no more is left in a band
	// than is believed.
	mostly = 0.8

	// stride is by how much, in dB a frame, that belief follows what is seen; at
	// first by so many times more, which is half that after a second.
	stride = 0.3
	hasty  = 12
	haste  = 50 // frames

	// spare is what may be left above that, and still be an echo, in dB; and most
	// what counts of what is more, so that one band does not speak for all.
	spare = 5
	most  = 12

	// surely is how far above that something is surely somebody, from which only a
	// part as much is learned, in case that it is not.
	surely   = 5
	doubtful = 0.1

	// grown is the most that a residue is believed to be above the echo, in dB: the
	// canceller has then gone astray; and shrunk the least: it lowers no more in any
	// room for long, however well it does in one without noise.
	grown  = 6
	shrunk = -22

	// faintest is the level of what nobody hears in a band.
	faintest = -72

	// overNoise is how far above the noise of a band something must be to be more.
	overNoise = 6

	// What is left is somebody if it is so much louder than an echo would be, in dB
	// and as the mean of all bands: if that lasts, or even for a moment. Made with
	// the rooms of make bench, figure onset-echo.
	clearly = 2
	plainly = 3

	// acquainted is how many frames of own sound it takes until that is known, and
	// seen how many of an echo in a band.
	acquainted = 40
	seen       = 15

	// What part of a frame is said to be echo when somebody is clearly in it, and at
	// most when he is plainly: no ear takes those for echo alone.
	toldClearly = 0.85
	toldPlainly = 0.8
)

// A residue knows what a canceller leaves of an echo, band by band, beside the echo
// that it has removed at that moment and just before. What is louder is somebody,
// however soft beside what was removed. The zero value knows nothing, and takes
// everything for echo.
type residue struct {
	bands          [bands]remains
	removed, left  [points]float64 // the last samples
	frames, played int             // of it all, and of own sound
}

// Remains are the residue in a band, in dB.
type remains struct {
	echo   float64 // that was removed, dying away
	noise  float64
	leaves float64 // above echo
	n      int     // frames that told
}

// judge returns the part of the energy of out, which the canceller made of in, that is
// taken to be echo, which is all of it where nobody is clearly heard beside it; and
// whether somebody is plainly. Own says whether our own sound is heard.
func (r *residue) judge(own bool, in, out []int16) (ratio float32, beside bool) {
	outs, echoes := r.analyse(in, out)
	r.frames++
	if own {
		r.played++
	}
	var all, ours, above float64
	for i := range r.bands {
		left, over := r.bands[i].step(r, own, outs[i], echoes[i])
		all += power(left)
		ours += power(left - over)
		above += min(over, most)
	}
	above /= bands
	switch {
	case r.played < acquainted || above < clearly:
		return 1, false
	case above < plainly:
		return toldClearly, false
	}
	return float32(min(toldPlainly, ours/all)), true
}

// step takes in what is left in the band, and what was removed from it, in dB; and
// returns the former and how far above an echo it is.
func (m *remains) step(r *residue, own bool, left, removed float64) (float64, float64) {
	if r.frames == 1 {
		m.echo, m.noise = Silence, left
	}
	m.echo = max(removed, m.echo-decay)
	if !own {
		speed := 0.02
		if left < m.noise {
			speed = 0.3
		}
		m.noise += speed * (left - m.noise)
	} else if m.echo > m.noise+overNoise {
		m.learn(left - m.echo)
	}
	if m.n < seen {
		return left, 0
	}
	return left, max(0, left-max(m.echo+m.leaves+spare, m.noise+overNoise, faintest))
}

// learn takes in how loud what is left is beside the echo.
func (m *remains) learn(above float64) {
	by := stride * max(1, hasty/(1+float64(m.n)/haste))
	m.n++
	if above > m.leaves+surely {
		by *= doubtful
	}
	if above > m.leaves {
		m.leaves = min(m.leaves+by*mostly, grown)
	} else {
		m.leaves = max(shrunk, m.leaves-by*(1-mostly))
	}
}

// analyse returns the levels of the bands of out, and of what it is short of in.
func (r *residue) analyse(in, out []int16) (outs, echoes [bands]float64) {
	const keep = points - Samples
	copy(r.left[:], r.left[Samples:])
	copy(r.removed[:], r.removed[Samples:])
	for i := range Samples {
		r.left[keep+i] = float64(out[i])
		r.removed[keep+i] = float64(in[i]) - float64(out[i])
	}
	var s spectrum
	for i, w := range taper {
		s[i] = complex(w*r.left[i], w*r.removed[i])
	}
	s.transform()
	for k := edges[0]; k < edges[bands]; k++ {
		o, e := s.pair(k)
		b := bandOf[k]
		outs[b], echoes[b] = outs[b]+o, echoes[b]+e
	}
	const whole = points * points / 4 * 0.75 * (1 << 30) // of a sine as loud as can be
	for b := range outs {
		outs[b] = max(Silence, decibel(outs[b]/whole+1e-12))
		echoes[b] = max(Silence, decibel(echoes[b]/whole+1e-12))
	}
	return outs, echoes
}

// edges are at which points the bands begin and the last one ends, bandOf is in which
// each point is.
var edges, bandOf = func() (at [bands + 1]int, of [points / 2]int) {
	mel := func(hertz float64) float64 { return math.Log1p(hertz / 700) }
	for b := range at {
		m := mel(lowest) + (mel(highest)-mel(lowest))*float64(b)/bands
		at[b] = int(math.Ceil(700 * math.Expm1(m) * points / Rate))
	}
	for b := range bands {
		for k := at[b]; k < at[b+1]; k++ {
			of[k] = b
		}
	}
	return at, of
}()
