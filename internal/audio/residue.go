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

// weights are how much each band counts when all are asked whether somebody is heard,
// from the lowest on: fitted by logistic regression, none below 0 and each drawn to the
// mean, to people who speak over an agent of any of four voices, beside that agent alone;
// and rounded.
var weights = [bands]float64{
	1, 2, 2.5, 1, 1.5, 0, 0.5, 1, 0.5, 1, 1, 1,
	0.5, 0.5, 1.5, 1, 1.5, 2, 0.5, 0.5, 0.5, 0, 1, 1.5,
}

const (
	// stride is by how much, in dB a frame, the belief of what is left in a band
	// follows what is seen; at first by so many times more, which is half that after
	// a second.
	stride = 0.1
	hasty  = 12
	haste  = 50 // frames

	// surely is how far above that something is surely somebody, from which only a
	// part as much is learned, in case that it is not.
	surely   = 5
	doubtful = 0.1

	// grown is the most that a residue is believed to be above the echo, in dB: the
	// canceller has then gone astray; and shrunk the least: it lowers no more in any
	// room for long, however well it does in one without noise.
	grown  = 6
	shrunk = -22

	// vary is the part of the last frame in how far from that belief a band mostly
	// is; usual what that is before anything was seen, widest the most that one frame
	// says of it, and narrow the least that counts, in dB.
	vary   = 0.02
	usual  = 6
	widest = 12
	narrow = 2

	// spare is what may be left above the belief and is no surprise yet, in dB; most
	// the greatest surprise, so that one band does not speak for all.
	spare = 3
	most  = 5

	// faintest is the level of what nobody hears in a band.
	faintest = -72

	// overNoise is how far above the noise of a band something must be to be more.
	overNoise = 6

	// lingers is what is left of a surprise a frame later: syllables are longer, and
	// what a canceller makes of a sound that it does not know mostly is not.
	lingers = 0.35

	// What is left is somebody if it is so surprising, in the mean of all bands: if
	// that lasts, or even for a moment. They and all the numbers above were chosen with
	// other people, lines and rooms than those of make bench, figure onset-echo; then
	// these two were raised a little, for its agent that speaks alone.
	clearly = 1.3
	plainly = 1.55

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
	surprise       float64         // in the mean of all bands, dying away
}

// Remains are the residue in a band, in dB.
type remains struct {
	echo   float64 // that was removed, dying away
	noise  float64
	leaves float64 // above echo, in half of the frames
	varies float64 // how far from that, in the mean
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
	var all, ours, surprise, weight float64
	for i := range r.bands {
		left, over, surprising := r.bands[i].step(r, own, outs[i], echoes[i])
		all += power(left)
		ours += power(left - over)
		surprise += weights[i] * surprising
		weight += weights[i]
	}
	r.surprise = lingers*r.surprise + surprise/weight
	switch {
	case r.played < acquainted || r.surprise < clearly:
		return 1, false
	case r.surprise < plainly:
		return toldClearly, false
	}
	return float32(min(toldPlainly, ours/all)), true
}

// step takes in what is left in the band, and what was removed from it, in dB; and
// returns the former, how far above an echo it is, and how surprising that is: by how
// many times what it mostly varies.
func (m *remains) step(r *residue, own bool, left, removed float64) (_, over, surprising float64) {
	if r.frames == 1 {
		m.echo, m.noise, m.varies = Silence, left, usual
	}
	m.echo = max(removed, m.echo-decay)
	known, expected, varies := m.n >= seen, m.echo+m.leaves+spare, m.varies
	switch { // the noise of the room is in all that is left, and alone where we are silent
	case left < m.noise:
		m.noise += 0.3 * (left - m.noise)
	case !own:
		m.noise += 0.02 * (left - m.noise)
	}
	if own && m.echo > m.noise+overNoise {
		m.learn(left - m.echo)
	}
	if !known {
		return left, 0, 0
	}
	over = max(0, left-max(expected, m.noise+overNoise, faintest))
	return left, over, min(over/max(varies, narrow), most)
}

// learn takes in how loud what is left is beside the echo.
func (m *remains) learn(above float64) {
	m.varies += vary * (min(math.Abs(above-m.leaves), widest) - m.varies)
	by := stride * max(1, hasty/(1+float64(m.n)/haste))
	m.n++
	if above > m.leaves+surely {
		by *= doubtful
	}
	if above > m.leaves {
		m.leaves = min(m.leaves+by, grown)
	} else {
		m.leaves = max(shrunk, m.leaves-by)
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
	return levels(&r.left, &r.removed)
}

// Bands returns the levels of the last 32 ms of pcm in the bands in which a residue is
// known, from the lowest on, in dB. It is silent before it begins.
func Bands(pcm []int16) (all [bands]float64) {
	var last, nothing [points]float64
	pcm = pcm[max(0, len(pcm)-points):]
	for i, s := range pcm {
		last[points-len(pcm)+i] = float64(s)
	}
	all, _ = levels(&last, &nothing)
	return all
}

// levels returns the levels of the bands of two sounds.
func levels(one, other *[points]float64) (ones, others [bands]float64) {
	var s spectrum
	for i, w := range taper {
		s[i] = complex(w*one[i], w*other[i])
	}
	Transform(s[:])
	for k := edges[0]; k < edges[bands]; k++ {
		a, b := s.pair(k)
		ones[bandOf[k]] += a
		others[bandOf[k]] += b
	}
	const whole = points * points / 4 * 0.75 * (1 << 30) // of a sine as loud as can be
	for b := range ones {
		ones[b] = max(Silence, decibel(ones[b]/whole+1e-12))
		others[b] = max(Silence, decibel(others[b]/whole+1e-12))
	}
	return ones, others
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
