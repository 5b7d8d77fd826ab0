// Package acoustic is what is measured of a voice, before anything is known
// about voices: windows of cepstra, the pitch, and what they come to over an
// utterance. A [Model] turns that into a print; it is made by the program in
// models/voiceprint/train, which listens through the same code.
//
// Everything here is a step function, and allocates nothing where it says so.
package acoustic

import (
	"math"

	"earshot/internal/audio"
)

// Version is that of what is measured: a model is of use with no other.
const Version = 1

// Cepstra is how many numbers say what a window of sound is like.
const Cepstra = 20

// An Analyser cuts a voice into windows. Its zero value has heard nothing; it is
// used from one goroutine.
type Analyser struct {
	spectrum spectrum
	tail     [window + 1]float64 // the last samples, oldest first
	peak     float64             // the level of the voice, in dB over one
	taken    [audio.Samples / hop][Cepstra]float64
}

const (
	// soft is how much softer than its peak a window of a voice may be, in dB.
	// What is softer is a pause that the detector of voices has let through.
	soft = 30

	// sinks is by how much the peak falls in a window, in dB: 3 dB a second.
	sinks = 0.03
)

// Step takes in 20 ms and returns the windows of it that hold a voice, valid
// until the next Step. There are none if voiced is not true, or if the frame is so
// loud that it was cut off, which sounds like nobody. It allocates nothing.
func (a *Analyser) Step(f *audio.Frame, voiced bool) [][Cepstra]float64 {
	if f.Lost > 0 {
		a.tail = [window + 1]float64{}
	}
	n := 0
	voiced = voiced && !clipped(&f.PCM)
	for at := 0; at < audio.Samples; at += hop {
		a.shift(f.PCM[at : at+hop])
		if voiced && a.loud() && a.spectrum.cepstrum(&a.taken[n], &a.tail) {
			n++
		}
	}
	return a.taken[:n]
}

// shift appends pcm to the tail.
func (a *Analyser) shift(pcm []int16) {
	kept := copy(a.tail[:], a.tail[hop:])
	for i, s := range pcm {
		a.tail[kept+i] = float64(s)
	}
}

// clipped reports whether one in 32 samples is as large as samples get.
func clipped(pcm *[audio.Samples]int16) bool {
	n := 0
	for _, s := range pcm {
		if s == math.MaxInt16 || s == math.MinInt16 {
			n++
		}
	}
	return n > audio.Samples/32
}

// loud reports whether the tail is about as loud as the voice has been.
func (a *Analyser) loud() bool {
	energy := 1.0
	for _, v := range &a.tail {
		energy += v * v
	}
	level := 10 * math.Log10(energy)
	a.peak = max(a.peak-sinks, level)
	return level >= a.peak-soft
}
