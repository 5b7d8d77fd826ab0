package audio

import (
	"math"
	"time"
)

const (
	// ahead is by how much the sound of the loudspeaker is given before the
	// moment at which it is said to be heard: an echo must not come before its
	// sound, and what a device says of its latency is off by a period.
	ahead = 30 * time.Millisecond

	// astray is how far the sound may come from where it should, in samples,
	// before it is put there: less than ahead, since an echo canceller learns a
	// place and must learn it again.
	astray = Rate * 20 / 1000

	// lean is the part of that which is made good with each sample: a millionth,
	// to which no canceller takes offence.
	lean = 1e-6

	// kept is how much sound of the loudspeaker is remembered: four seconds.
	kept = 1 << 16
)

// A Reference is what the loudspeaker plays, by the clock of the microphone: the
// two are different devices, and neither says well when its samples are heard.
// It has no clock; it is for one goroutine at a time.
type Reference struct {
	ring     [kept]int16
	written  int64 // samples of the loudspeaker
	captured int64 // samples of the microphone
	far      Pace
	near     Pace
	at       float64 // where in the loudspeaker's samples the next frame begins
	placed   bool
	gap      int64 // the first sample after the last gap
}

// Played says what the loudspeaker plays next, and when its first sample is
// heard. After gap it does not follow on what was played before.
func (r *Reference) Played(pcm []int16, at time.Time, gap bool) {
	if gap {
		r.far.Leap()
		r.gap = r.written
	}
	r.far.Note(r.written, at)
	for i, s := range pcm {
		r.ring[(r.written+int64(i))%kept] = s
	}
	r.written += int64(len(pcm))
}

// Captured fills pcm with what the loudspeaker plays while the next frame is
// captured, which begins at, when so many frames are missing before it. It
// reports whether that follows on what it returned last, and is heard as much
// later as that was: behind a gap it is not, and nobody knows how long that was.
func (r *Reference) Captured(at time.Time, lost uint16, pcm *[Samples]int16) (follows bool) {
	if lost > 0 {
		r.near.Leap()
		r.captured += int64(lost) * Samples
		r.at += float64(lost) * Samples
	}
	r.near.Note(r.captured, at)
	follows = r.place() && lost == 0 && !r.gaping()
	speed := r.near.Speed()
	if r.far.Known() {
		speed = r.far.Speed() / speed
	} else {
		speed = 1
	}
	off := r.want() - r.at
	speed += lean * max(-5, min(off/Rate*200, 5)) // at most 5 ppm, for 25 ms
	for i := range pcm {
		pcm[i] = r.sample(r.at + float64(i)*speed)
	}
	r.at += Samples * speed
	r.captured += Samples
	return follows
}

// gaping reports whether a gap is on its way, or in the next frame.
func (r *Reference) gaping() bool { return r.gap > 0 && r.at <= float64(r.gap) }

// want returns where the next frame should begin.
func (r *Reference) want() float64 {
	return r.far.Sample(r.near.Time(float64(r.captured))) + float64(ahead)/float64(time.Second)*Rate
}

// place puts the next frame where it should begin, if it is too far from there.
func (r *Reference) place() (follows bool) {
	if !r.far.Known() {
		return true // nothing is played, or it is not known when
	}
	want := r.want()
	if r.placed && math.Abs(want-r.at) <= astray {
		return true
	}
	r.at, r.placed = want, true
	return false
}

// Sixteen neighbours make a sample between two samples, with a table of so many
// places between.
const (
	taps   = 16
	phases = 256
)

// between holds the weights of the neighbours of each place.
var between = func() (table [phases][taps]float32) {
	for phase := range table {
		sum := 0.0
		var w [taps]float64
		for i := range w {
			x := float64(i-taps/2+1) - float64(phase)/phases
			w[i] = Sinc(x) * (0.5 + 0.5*math.Cos(math.Pi*x/(taps/2)))
			sum += w[i]
		}
		for i := range w {
			table[phase][i] = float32(w[i] / sum)
		}
	}
	return table
}()

// Sinc returns sin(πx)/(πx), which is 1 at 0: by it a sample counts at a distance of x samples.
func Sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// sample returns the sample at a place between two samples: silence where
// nothing is played, or it is forgotten.
func (r *Reference) sample(at float64) int16 {
	whole := math.Floor(at)
	n := int64(whole)
	first := n - taps/2 + 1
	if first+taps > r.written || first < max(0, r.written-kept) {
		return 0
	}
	phase := int((at - whole) * phases)
	if phase == 0 {
		return r.ring[n%kept]
	}
	sum := float32(0)
	for i, w := range &between[phase] {
		sum += w * float32(r.ring[(first+int64(i))%kept])
	}
	return int16(max(math.MinInt16, min(math.Round(float64(sum)), math.MaxInt16)))
}
