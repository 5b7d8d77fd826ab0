// Package acoustic measures a voice, without any knowledge about voices: windows of cepstra, the
// pitch, and their statistics over an utterance. A [Model] turns those into a print; the program
// in tools/voiceprint makes it, with the same measurements.
//
// Everything here is a step function, and allocates nothing where its comment says so.
package acoustic

import (
	"math"

	"earshot/internal/audio"
)

// Version is the version of the measurement. A model works with one version only.
const Version = 1

// Cepstra is how many numbers describe the spectrum of a window.
const Cepstra = 20

// A Sound is the measurement of 20 ms, made once for all listeners: what a voice is like, its
// pitch, and whether there are two.
type Sound struct {
	// Voiced is that of the frame.
	Voiced bool

	// Pitch is how high a voice is, in octaves over 60 Hz; 0 if there is none.
	Pitch float64

	// Two reports whether a second voice has another pitch.
	Two bool

	windows [audio.Samples / hop]Window
	n       int // of them
}

// A Window is 25 ms of a voice. One begins every 10 ms.
type Window struct {
	Shape [Cepstra]float64 // of its spectrum, whatever its level
	Level float64          // in dB over one, of all its samples together
}

// Windows returns the measured windows, which belong to s: none if the frame had no voice, or if
// it was clipped, which distorts any voice.
func (s *Sound) Windows() []Window { return s.windows[:s.n] }

// An Analyser measures sound. The zero value has heard nothing; it is used from one goroutine.
type Analyser struct {
	spectrum spectrum
	tail     [window + 1]float64           // the last samples, oldest first
	low      [memory + longest + 1]float64 // the last at a quarter of the rate
	sound    Sound
}

// Step takes 20 ms and returns their measurement, valid until the next Step. It allocates nothing.
func (a *Analyser) Step(f *audio.Frame) *Sound {
	if f.Lost > 0 {
		clear(a.tail[:])
		clear(a.low[:])
	}
	s := &a.sound
	s.Voiced, s.Pitch, s.Two, s.n = f.Voiced, 0, false, 0
	voiced := f.Voiced && !clipped(&f.PCM)
	for at := 0; at < audio.Samples; at += hop {
		a.shift(f.PCM[at : at+hop])
		if voiced && a.spectrum.cepstrum(&s.windows[s.n].Shape, &a.tail) {
			s.windows[s.n].Level = a.level()
			s.n++
		}
	}
	deepen(a.low[:], f)
	if voiced {
		s.Pitch, s.Two = a.pitches()
	}
	return s
}

// shift appends pcm to the tail.
func (a *Analyser) shift(pcm []int16) {
	kept := copy(a.tail[:], a.tail[hop:])
	for i, s := range pcm {
		a.tail[kept+i] = float64(s)
	}
}

// level returns how loud the tail is.
func (a *Analyser) level() float64 {
	energy := 1.0
	for _, v := range &a.tail {
		energy += v * v
	}
	return 10 * math.Log10(energy)
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

// A Gate passes the windows in which a voice is about as loud as before. The zero value has heard
// nothing.
type Gate struct{ peak float64 } // the level of the voice

const (
	// soft is how much softer than its peak a window of a voice may be, in dB. Softer ones are
	// pauses that the voice detector has let through.
	soft = 30

	// sinks is by how much the peak falls in a window, in dB: 3 dB a second.
	sinks = 0.03
)

// Passes reports whether w does.
func (g *Gate) Passes(w *Window) bool {
	g.peak = max(g.peak-sinks, w.Level)
	return w.Level >= g.peak-soft
}
