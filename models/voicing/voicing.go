// Package voicing tells a voice from keys, doors, breath and music, whatever it says and before
// anybody can know that: by its pitch, which moves, and by the shape of its spectrum. It cannot
// tell whose voice it is, nor whether it speaks to us.
//
// A [Detector] is one step function, without goroutine or clock. It has no reader that could be
// slow: Step does not block, and allocates nothing.
package voicing

import (
	"math"
	"slices"

	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

const (
	// clearly is how much evidence makes a voice, in nats. An instant gives at most much of it, and
	// what speaks against one at most least in all, so that a consonant does not hide the vowel
	// after it for long.
	clearly = 2.5
	much    = 3
	least   = -2

	// doubt is how much more a sound needs with each frame in which it was no voice, after as many
	// as the longest consonant has: music that has played for a second needs seven nats more, which
	// a person who speaks beside it has after two syllables.
	doubt     = 0.2
	consonant = 12
)

// Features is how many numbers describe an instant.
const Features = 7

// weights turn the features into evidence, in nats: what lies outside of a range says no more than
// its end. They were fitted by logistic regression, by tools/voicing, to synthetic voices beside
// sounds of other kinds than make bench has.
var weights = [Features]struct{ low, high, weight float64 }{
	{-7.11, 10.1, -0.0269}, // the shape of the spectrum, by the orders below
	{-3.94, 4.17, 0.456},
	{-2.71, 2.89, 0.563},
	{-2.36, 2.5, -0.428},
	{-2.1, 1.88, -0.539},
	{-6.74, 37.4, -0.0304}, // how much its loudest band stands out, in dB
	{-1.9, 6.01, 0.5},      // how its pitch moves
}

// usual is the evidence of an instant of which all features are 0.
const usual = -1.39

// points is how many samples the levels are of, and bands how many of those there are.
const points, bands = 512, 24

// An instant is what was measured of a frame.
type instant struct {
	alike  float64        // to itself a pitch period before, from 0 to 1
	pitch  float64        // in octaves over 60 Hz; 0 if there is none
	levels [bands]float64 // in dB, of bands as wide as the ear has them
}

// A Detector follows one source of sound. The zero value has heard nothing; it is used from one
// goroutine.
type Detector struct {
	tail     [points]int16
	tuner    acoustic.PitchDetector
	last     [6]instant // the newest first
	evidence float64
	waited   int // frames since the sound began
	voice    bool
}

// Begin forgets the evidence: the next frame is the first of another sound.
func (d *Detector) Begin() { d.evidence, d.waited, d.voice = 0, 0, false }

// Voice reports whether the sound that has begun is a voice.
func (d *Detector) Voice() bool { return d.voice }

// Step takes 20 ms. Only frames that are counted are evidence; the others are what came before.
func (d *Detector) Step(f *audio.Frame, counts bool) {
	if f.Lost > 0 {
		d.last = [len(d.last)]instant{}
	}
	copy(d.tail[:], d.tail[audio.Samples:])
	copy(d.tail[points-audio.Samples:], f.PCM[:])
	copy(d.last[1:], d.last[:])
	d.last[0].alike, d.last[0].pitch = d.tuner.Step(f)
	d.last[0].levels = audio.Bands(d.tail[:])
	drown(&d.last[0].levels)
	if d.waited++; !counts {
		return
	}
	d.evidence = max(least, d.evidence+d.instant())
	d.voice = d.voice || d.evidence >= clearly+doubt*float64(max(0, d.waited-consonant))
}

// drown raises the softest levels to what a room drowns anyway, so that they say nothing.
func drown(levels *[bands]float64) {
	const room = 35 // dB below the loudest
	floor := slices.Max(levels[:]) - room
	for b := range levels {
		levels[b] = max(levels[b], floor)
	}
}

// instant returns the evidence of the last frame.
func (d *Detector) instant() float64 {
	sum := usual
	for i, v := range d.Features() {
		w := &weights[i]
		sum += w.weight * min(max(v, w.low), w.high)
	}
	return min(max(sum, -much), much)
}

// orders are the cosines that describe the shape of a spectrum: its tilt first. The others depend
// on the microphone more than on what is heard.
var orders = [...]float64{1, 2, 3, 4, 7}

var cosines = func() (c [len(orders)][bands]float64) {
	for i, q := range orders {
		for b := range c[i] {
			c[i][b] = math.Cos(math.Pi*q*(float64(b)+0.5)/bands) / bands
		}
	}
	return c
}()

// Features returns what describes the last instant and those just before: the shape of the spectrum,
// how much its loudest band stands out, and how fast the pitch moves, by how much there is one.
func (d *Detector) Features() (x [Features]float64) {
	alike := 0.0
	for _, in := range d.last[:5] {
		alike = max(alike, in.alike)
	}
	top, mean := math.Inf(-1), 0.0
	for b, now := range d.last[0].levels {
		top, mean = max(top, now), mean+now/bands
		level := (now + d.last[1].levels[b] + d.last[2].levels[b]) / 3
		for q := range cosines {
			x[q] += cosines[q][b] * level
		}
	}
	x[5], x[6] = top-mean, alike*d.glide()
	return x
}

// glide returns how many octaves the pitch moves in a frame, as doublings of the least that can be
// measured: 0 if it stands still, as that of an instrument does, and in the middle if there is none.
func (d *Detector) glide() float64 {
	const (
		finest = 0.0005
		leap   = 0.15 // another note, or an error
		middle = 3
	)
	moved, n := 0.0, 0
	for i := range len(d.last) - 2 {
		a, b := d.last[i].pitch, d.last[i+1].pitch
		if by := math.Abs(a - b); a > 0 && b > 0 && by < leap {
			moved += by
			n++
		}
	}
	if n < 2 {
		return middle
	}
	return math.Log2(1 + moved/float64(n)/finest)
}
