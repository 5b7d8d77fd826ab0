package audio

const (
	// mostly is of how many frames of echo, as a part, no more is left than is
	// believed: so seldom is it more, that five of eight frames never are.
	mostly = 0.8

	// hardly is of how many the canceller lowers less than is believed: what it
	// does to a fifth of them may be somebody who speaks as well.
	hardly = 0.15

	// stride is by how much, in dB a frame, such a belief follows what is seen;
	// at first by so many times more, which is half that after a second.
	stride  = 0.3
	hasty   = 12 // about how loud it is
	hastily = 7  // about by how much it is lowered
	haste   = 50 // frames

	// spare is what an echo may be louder than is believed, and still be one, in
	// dB: of the sound of our own, and of what is captured.
	spareFar  = 1
	spareNear = 2

	// surely is how far above that something is surely somebody, in dB; from which
	// only a part as much is learned, in case that it is not.
	surely   = 4
	doubtful = 0.1

	// fading is how fast what was captured is forgotten, in dB a frame: what the
	// canceller leaves dies away more slowly than the sound itself.
	fading = 1
)

// A residue knows what a canceller leaves of an echo, octave by octave: how loud
// that is beside our own sound, and by how much it is lowered. What is louder
// than both allow is somebody, however soft beside the echo that was removed. The
// zero value knows nothing, and takes everything for echo.
type residue struct{ bands [octaves]remains }

// Remains are the residue in an octave.
type remains struct {
	now     energies // of what is captured and what is left
	was     float64  // what was captured lately
	lowered quantile // the energies of now, beside each other
	arrives quantile // what is left, beside our own sound
}

// judge returns the part of the energy of out, which the canceller made of in,
// that is taken to be echo, where our own sound is as e has just heard it.
func (r *residue) judge(e *Echo, in, out []int16) float32 {
	ins, outs := split(in), split(out)
	var all, ours float64
	for i := range r.bands {
		m, b := &r.bands[i], &e.bands[i]
		m.add(power(ins[i]), power(outs[i]))
		all += m.now.out
		if m.now.out < power(max(faintBand, b.floor+overFloor)) { // nothing is heard
			continue
		}
		m.learn(b, e.far >= faint, ins[i], outs[i])
		ours += min(m.now.out, m.echo(b.held))
	}
	if all == 0 {
		return 0
	}
	return float32(ours / all)
}

// add takes in the energies of a frame.
func (m *remains) add(in, out float64) {
	m.now.add(in, out, smooth)
	m.was = max(m.now.in, m.was*power(-fading))
}

// learn takes in what is left of how much, in dB, where there is echo.
func (m *remains) learn(b *band, own bool, in, out float64) {
	if !own || b.held <= sureFar {
		return
	}
	left, doubt := decibel(m.now.out), 1.0
	if m.now.out > m.echo(b.held)*power(surely) {
		doubt = doubtful
	}
	if in > b.floor+2*overFloor {
		m.lowered.add(decibel(m.now.in)-left, hardly, hastily, doubt)
		m.lowered.at = max(0, m.lowered.at) // what it adds is not known
	}
	if b.loudFor >= sureFor && out > b.floor+overFloor {
		m.arrives.add(left-b.held, mostly, hasty, doubt)
	}
}

// echo returns the most that may be left of an echo of sound that was so loud.
func (m *remains) echo(held float64) float64 {
	if held < faintBand {
		return 0
	}
	return max(power(m.arrives.at+spareFar+held), m.was*power(spareNear-m.lowered.at))
}

// A quantile follows the value that a part of all values is below.
type quantile struct {
	at float64
	n  float64 // values, so far
}

// add takes in a value of those of which part is below: with doubt below 1 as so
// much of one; the first change it more, so many times at the beginning.
func (q *quantile) add(v, part, hasty, doubt float64) {
	q.n++
	by := stride * max(1, hasty/(1+q.n/haste))
	if v < q.at {
		part--
	}
	q.at += by * part * doubt
}
