// Package voiceprint turns a voice into numbers, a print, so that two prints of
// one voice are more alike than those of two. It is pure Go, needs no model that
// has to be fetched, and has neither goroutine nor clock: an [Extractor] is
// stepped with frames.
//
// A print tells who somebody is, as a fingerprint does. It stands in no log and
// in no journal; who keeps it has asked.
//
// Nobody can be slow: a Step does not wait and allocates nothing.
package voiceprint

import (
	"math"
	"time"

	"earshot"
	"earshot/internal/audio"
)

// Size is how many numbers a print has.
const Size = 48

// cepstra is how many numbers say what a window of sound is like.
const cepstra = 24

// Least is how much of a voice must have been heard for a print of it.
const Least = 600 * time.Millisecond

// An Extractor listens to one voice. It is used from one goroutine.
type Extractor struct {
	spectrum spectrum
	tail     [window + 1]float64 // the last samples, oldest first

	frames  int // that were voiced
	windows float64
	sum     [cepstra]float64
	squares [cepstra]float64
}

// New returns an extractor that has heard nothing.
func New() *Extractor { return new(Extractor) }

// Reset forgets what was heard.
func (x *Extractor) Reset() { *x = Extractor{} }

// Step takes in 20 ms, unless no voice is in it.
func (x *Extractor) Step(f *audio.Frame) {
	if f.Lost > 0 {
		x.tail = [window + 1]float64{}
	}
	for at := 0; at < audio.Samples; at += hop {
		x.shift(f.PCM[at : at+hop])
		if f.Voiced {
			x.take()
		}
	}
	if f.Voiced {
		x.frames++
	}
}

// shift appends pcm to the tail.
func (x *Extractor) shift(pcm []int16) {
	kept := copy(x.tail[:], x.tail[hop:])
	for i, s := range pcm {
		x.tail[kept+i] = float64(s)
	}
}

// take counts the window that the tail is.
func (x *Extractor) take() {
	var c [cepstra]float64
	if !x.spectrum.cepstrum(&c, &x.tail) {
		return
	}
	x.windows++
	for q, v := range &c {
		x.sum[q] += v
		x.squares[q] += v * v
	}
}

// Voice returns what was heard since Reset, through channel; false if it was too
// little, see [Least]. More may follow it.
func (x *Extractor) Voice(channel string) (earshot.Voice, bool) {
	heard := time.Duration(x.frames) * audio.Time
	if heard < Least || x.windows < Least.Seconds()*audio.Rate/hop {
		return earshot.Voice{}, false
	}
	print := make([]float32, Size)
	for q := range x.sum {
		mean := x.sum[q] / x.windows
		print[q] = float32(mean)
		print[cepstra+q] = float32(math.Sqrt(max(0, x.squares[q]/x.windows-mean*mean)))
	}
	return earshot.Voice{Heard: heard, Print: print, Channel: channel}, true
}
