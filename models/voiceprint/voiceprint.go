// Package voiceprint turns a voice into numbers, a print, so that two prints of one voice are more
// similar than those of two. It is pure Go, needs no downloaded model, and has neither goroutine
// nor clock: an [Extractor] is stepped with frames.
//
// The model was trained by tools/voiceprint (go generate) on fictitious people, see package cast.
// For two utterances of other such people, of 1.5 to 5 seconds, 5 % are judged wrongly on one
// channel, and 8 % across two (make bench prints it as B12, with intervals; half of the pairs are
// of one voice). Real people are harder; neural networks, which must be downloaded, are far
// better. So "nobody can tell" must always be a possible answer.
//
// A print identifies a person, as a fingerprint does. It is in no log and in no journal; it may be
// stored only with the person's consent.
//
// An [Extractor] makes the print of a voice, a [SpeakerChangeDetector] finds where another takes
// over, an [OverlapDetector] whether two speak at once. A caller of more than one measures each
// frame once, with an [Analyser], and passes the result to their Take.
//
// There is no slow reader: a Step and a Take do not block and allocate nothing.
package voiceprint

import (
	_ "embed"
	"hash/crc32"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// Size is how many numbers a print has.
const Size = acoustic.Size

// Least is how much of a voice must have been heard for a print of it.
const Least = 600 * time.Millisecond

// Further requirements on a voice: windows of 10 ms that were loud enough, since a third of what a
// voice detector lets through are pauses; and frames with a pitch, which noise, clicks and
// whispers do not have.
const (
	enough = 40
	sung   = 8
)

//go:generate go run earshot/tools/voiceprint -o voices.bin

//go:embed voices.bin
var voices []byte

// Kind identifies the meaning of a print's numbers: prints of two kinds cannot be compared, so it
// must be stored beside prints. It is different for each model, which itself says for which kind
// of measurement it was made.
var Kind = int(crc32.ChecksumIEEE(voices))

// model is the knowledge about voices. It is part of the program, so it can only be invalid if the
// program was built wrongly.
var model = func() *acoustic.Model {
	m, err := acoustic.Decode(voices)
	if err != nil {
		panic("voiceprint: " + err.Error() + "; go generate ./models/voiceprint makes it anew")
	}
	return m
}()

// deaf is the initial state of every extractor.
var deaf = model.Mixture.Listen()

// A Sound is the measurement of 20 ms. Its own comments describe its fields.
type Sound = acoustic.Sound

// An Analyser measures sound, 20 ms with each Step. The zero value has heard nothing; it is used
// from one goroutine.
type Analyser = acoustic.Analyser

// An Extractor listens to one voice. It is used from one goroutine.
type Extractor struct{ *acoustic.Listener }

// New returns an extractor that has heard nothing.
func New() *Extractor { return &Extractor{deaf.Again()} }

// Voice returns the voice heard since Reset, through channel; false if it was too little, see
// [Least]. More may follow it.
func (x *Extractor) Voice(channel string) (earshot.Voice, bool) {
	heard := time.Duration(x.Voiced()) * audio.Time
	if heard < Least || x.Windows() < enough || x.Hums() < sung {
		return earshot.Voice{}, false
	}
	var raw [acoustic.Raw]float64
	x.Raw(&raw)
	print := make([]float32, Size)
	model.Print(print, &raw)
	return earshot.Voice{Heard: heard, Print: print, Channel: channel}, true
}
