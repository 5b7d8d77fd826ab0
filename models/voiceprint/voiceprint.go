// Package voiceprint turns a voice into numbers, a print, so that two prints of
// one voice are more alike than those of two. It is pure Go, needs no model that
// has to be fetched, and has neither goroutine nor clock: an [Extractor] is
// stepped with frames.
//
// What tells voices apart was learnt by tools/voiceprint (go generate) from
// people who do not exist, see package cast. Of two utterances of others like
// them, of 1.5 to 5 seconds, 5 % are judged wrongly on one channel, and 8 % across
// two (make bench prints it as B12, with intervals; where as many are of one voice
// as of two). Real people are harder; networks, which must be fetched, are far
// better. So "nobody can tell" must always be a possible answer.
//
// A print tells who somebody is, as a fingerprint does. It stands in no log and
// in no journal; who keeps it has asked.
//
// An [Extractor] says what somebody sounds like, a [SpeakerChangeDetector] where another takes over, an
// [OverlapDetector] whether two speak at once. Who asks for more than one of them measures each
// frame once, with an [Analyser], and lets them take that.
//
// Nobody can be slow: a Step and a Take do not wait and allocate nothing.
package voiceprint

import (
	_ "embed"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// Size is how many numbers a print has.
const Size = acoustic.Size

// Least is how much of a voice must have been heard for a print of it.
const Least = 600 * time.Millisecond

// What else a voice must have had: windows of 10 ms that were loud enough, as a
// third of what a detector of voices lets through are pauses; and frames with a
// pitch, which noise, clicks and whispers have not.
const (
	enough = 40
	sung   = 8
)

//go:generate go run earshot/tools/voiceprint -o voices.bin

//go:embed voices.bin
var voices []byte

// model is what is known about voices. It is part of the program, so it can only
// be wrong if the program was built wrong.
var model = func() *acoustic.Model {
	m, err := acoustic.Decode(voices)
	if err != nil {
		panic("voiceprint: " + err.Error() + "; go generate ./models/voiceprint makes it anew")
	}
	return m
}()

// deaf is what every extractor begins as.
var deaf = model.Mixture.Listen()

// A Sound is what is measured of 20 ms. See there for what stands in it.
type Sound = acoustic.Sound

// An Analyser measures sound, 20 ms with each Step. Its zero value has heard nothing;
// it is used from one goroutine.
type Analyser = acoustic.Analyser

// An Extractor listens to one voice. It is used from one goroutine.
type Extractor struct {
	listener *acoustic.Listener
	frames   int // that were voiced
}

// New returns an extractor that has heard nothing.
func New() *Extractor { return &Extractor{listener: deaf.Again()} }

// Reset forgets what was heard.
func (x *Extractor) Reset() {
	x.listener.Reset()
	x.frames = 0
}

// Step takes in 20 ms, unless no voice is in it.
func (x *Extractor) Step(f *audio.Frame) {
	x.listener.Step(f)
	x.count(f.Voiced)
}

// Take is Step for what an [Analyser] has measured. An extractor is given frames in one
// of the two ways.
func (x *Extractor) Take(s *Sound) {
	x.listener.Take(s)
	x.count(s.Voiced)
}

func (x *Extractor) count(voiced bool) {
	if voiced {
		x.frames++
	}
}

// Voice returns what was heard since Reset, through channel; false if it was too
// little, see [Least]. More may follow it.
func (x *Extractor) Voice(channel string) (earshot.Voice, bool) {
	heard := time.Duration(x.frames) * audio.Time
	if heard < Least || x.listener.Windows() < enough || x.listener.Hums() < sung {
		return earshot.Voice{}, false
	}
	var raw [acoustic.Raw]float64
	x.listener.Raw(&raw)
	print := make([]float32, Size)
	model.Print(print, &raw)
	return earshot.Voice{Heard: heard, Print: print, Channel: channel}, true
}
