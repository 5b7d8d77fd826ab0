package voiceprint

import (
	"math"

	"earshot/models/voiceprint/acoustic"
)

// How a change of voice is found: as the place that best separates what was said before from what
// was said after, by the shape of the sound. Each side is described by the mean and the covariance
// of its cepstra, and the gain of two such descriptions over one is weighed against the additional
// numbers they need (the Bayesian information criterion).
const (
	shapes = acoustic.Cepstra // that are looked at

	// step is how many frames lie between the places that are tried: 100 ms.
	step = 5

	// least is how many windows of 10 ms must be on either side: a second of voice. In less, the
	// words differ more than the speakers.
	least = 100

	// behind is how many must follow the best place for it to be believed to be
	// that, and far how many the search goes back.
	behind = 60
	far    = 250

	// gain is how much better two voices must explain the sound than one. It is low: one voice that
	// says several sentences sometimes exceeds it, and callers compare the prints of both sides,
	// see [Change], and refuse those.
	gain = 300

	// decide is how many steps a change is looked at before it is believed, since
	// its place is not known well at first: 300 ms.
	decide = 3

	// rest is how many steps one does not look when a change was refused: 1 s.
	rest = 10

	// longest is how many steps an utterance may have: more than an ear lets pass.
	longest = 340
)

// A SpeakerChangeDetector looks for the place in one utterance where another voice takes over. It
// is used from one goroutine; a Take does not block and allocates nothing.
type SpeakerChangeDetector struct {
	gate acoustic.Gate

	frames int    // that were stepped
	now    tally  // of all
	before []past // the same at each step
	found  int    // the step at which there seemed to be a change; 0 if none
	quiet  int    // the step up to which none is looked for
}

// A past is what there was at a step, with its volume, which is asked for again as long
// as another voice may have begun there.
type past struct {
	tally
	volume float64
}

// NewSpeakerChangeDetector returns one that has heard nothing.
func NewSpeakerChangeDetector() *SpeakerChangeDetector {
	return &SpeakerChangeDetector{before: make([]past, 0, longest)}
}

// Reset forgets what was heard: another utterance begins.
func (t *SpeakerChangeDetector) Reset() {
	*t = SpeakerChangeDetector{before: t.before[:0]}
}

// A SpeakerChange is where another voice seems to begin.
type SpeakerChange struct {
	Since  int     // so many frames ago, the last included
	Gained float64 // how much better two voices explain what was heard than one, in nats
}

// Take takes 20 ms, where nil means nothing useful, such as sound together with the agent. It
// reports whether somebody else seems to speak than at the beginning, see [Change].
func (t *SpeakerChangeDetector) Take(s *Sound) (turn SpeakerChange, changed bool) {
	if s != nil {
		t.hear(s)
	}
	if t.frames++; t.frames%step != 0 || len(t.before) == cap(t.before) {
		return SpeakerChange{}, false
	}
	t.before = append(t.before, past{t.now, t.now.volume()})
	if len(t.before) < t.quiet {
		return SpeakerChange{}, false
	}
	switch _, gained := t.best(least); {
	case t.found == 0 && gained > gain:
		t.found = len(t.before)
	case t.found > 0 && len(t.before) >= t.found+decide:
		return t.turn()
	}
	return SpeakerChange{}, false
}

// turn returns where another voice begins, as far as that can be told now.
func (t *SpeakerChangeDetector) turn() (turn SpeakerChange, changed bool) {
	at, gained := t.best(behind)
	return SpeakerChange{t.frames - step*at, gained}, gained > gain
}

// hear counts the windows of s.
func (t *SpeakerChangeDetector) hear(s *Sound) {
	windows := s.Windows()
	for i := range windows {
		if w := &windows[i]; t.gate.Passes(w) {
			t.now.add(&w.Shape)
		}
	}
}

// Refuse says that the change just found is not one.
func (t *SpeakerChangeDetector) Refuse() { t.found, t.quiet = 0, len(t.before)+rest }

// Last is Take at the end of an utterance, when no later sound would tell better.
func (t *SpeakerChangeDetector) Last() (turn SpeakerChange, changed bool) {
	if t.found == 0 {
		return SpeakerChange{}, false
	}
	return t.turn()
}

// best returns the step after which another voice began most probably, with so
// many windows on its side, and what is gained by that.
func (t *SpeakerChangeDetector) best(after float64) (at int, gained float64) {
	if len(t.before) == 0 {
		return 0, 0
	}
	whole := t.now.n * t.now.volume()
	for i := len(t.before) - 1; i >= 0; i-- {
		first, second := &t.before[i], t.now.without(&t.before[i].tally)
		if first.n < least || second.n > far {
			break
		}
		if second.n < after {
			continue
		}
		apart := first.n*first.volume + second.n*second.volume()
		if g := 0.5 * (whole - apart - numbers*math.Log(t.now.n)); at == 0 || g > gained {
			at, gained = i+1, g
		}
	}
	return at, gained
}

// numbers is how many describe one voice: the mean and half of the covariance.
const numbers = shapes + shapes*(shapes+1)/2

// A tally is what describes windows: how many there are, their sum, and the sum
// of their products, the lower half of it.
type tally struct {
	n        float64
	sum      [shapes]float64
	products [shapes * (shapes + 1) / 2]float64
}

func (t *tally) add(c *[shapes]float64) {
	t.n++
	k := 0
	for i := range t.sum {
		v := c[i]
		t.sum[i] += v
		for j := 0; j <= i; j++ {
			t.products[k] += v * c[j]
			k++
		}
	}
}

// without returns t but for what is in part.
func (t *tally) without(part *tally) tally {
	rest := tally{n: t.n - part.n}
	for i := range rest.sum {
		rest.sum[i] = t.sum[i] - part.sum[i]
	}
	for i := range rest.products {
		rest.products[i] = t.products[i] - part.products[i]
	}
	return rest
}

// wobble is added to the variance of each number, so that what never changes is
// no certainty.
const wobble = 0.01

// volume returns the logarithm of the determinant of the covariance, from its
// Cholesky decomposition. Nothing has none: 0.
func (t *tally) volume() (log float64) {
	if t.n == 0 {
		return 0
	}
	var lower [shapes][shapes]float64
	k := 0
	for i := range shapes {
		for j := 0; j <= i; j++ {
			v := t.products[k]/t.n - t.sum[i]/t.n*t.sum[j]/t.n
			k++
			for m := range j {
				v -= lower[i][m] * lower[j][m]
			}
			if i != j {
				lower[i][j] = v / lower[j][j]
				continue
			}
			v = max(v+wobble, wobble)
			lower[i][i] = math.Sqrt(v)
			log += math.Log(v)
		}
	}
	return log
}
