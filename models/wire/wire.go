// Package wire defines the messages between the daemon and the helpers earshot-speech and
// earshot-neural, in the roles hear, say and sense, over the pipes of package helper.
//
// Hearing. The daemon sends Open first, and the helper answers Ready, or a [helper.Fault] and ends. Sound
// then goes to the helper in streams of samples as package audio encodes them, each with a number
// of its own that is never reused: an utterance, whose end is an empty message, or, with the bit
// [Spot] set, a stretch in which only the phrases of Open are sought. Streams of utterances begin in
// the order of their numbers, and come one after another unless Ready says that they may come at the
// same time. The helper answers with Partial, Final and Phrase; a Cancel, which overtakes the sound,
// makes it discard one utterance.
//
// Saying. Open and Ready are the same, and Ready may have a body, [ReadySay]. The sound to the helper
// is the text to say, one message per stream; from the helper, messages with the bit [Words] set give
// where its words begin, then samples follow, and an empty message when all has been said. Words of
// what follows may come between samples. Cancel ends it early, in silence.
//
// What happens when a reader is slow: both sides read control at once. Sound
// waits in the pipe, which holds two seconds, and then in its sender.
package wire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
)

// The names of the messages of control.
const (
	OpenName    = "open"
	CancelName  = "cancel"
	ReadyName   = "ready"
	FaultName   = "fault"
	PartialName = "partial"
	FinalName   = "final"
	PhraseName  = "phrase"
)

// Bits of the number of a stream.
const (
	Spot  = 1 << 31 // to hear: seek phrases in it, and nothing else
	Words = 1 << 31 // from say: not sound, but where its words begin
)

// A Cancel ends one stream early.
type Cancel struct {
	Stream uint32 `json:"stream"`
}

// OpenHear says what the helper listens for.
type OpenHear struct {
	Names   []string `json:"names,omitempty"`   // names that are called, and so are likelier than in the language model
	Phrases []string `json:"phrases,omitempty"` // to be sought in streams with [Spot]

	// Means is what an earlier helper had learned about the microphone, so that a new one
	// recognises the same words.
	Means []float32 `json:"means,omitempty"`

	// Only to earshot-neural:
	Set      string `json:"set,omitempty"`      // the folder of the set of models to hear with
	Second   string `json:"second,omitempty"`   // that of a set which corrects whole utterances; empty is none
	Language string `json:"language,omitempty"` // of what people say, as two letters
}

// A ReadyHear is how a helper hears. That of a helper which does not say, such as earshot-speech, is
// the zero value.
type ReadyHear struct {
	Chunk      int  `json:"chunk,omitempty"`      // after how many samples each its words may change; 0 is at any time
	Tail       int  `json:"tail,omitempty"`       // how many samples after it was said a word is known at the latest; 0 is at once
	Whole      bool `json:"whole,omitempty"`      // it knows the words only when an utterance has ended
	Concurrent bool `json:"concurrent,omitempty"` // utterances may come at the same time
}

// DecodeReadyHear decodes one, and refuses what no correct helper sends.
func DecodeReadyHear(c helper.Control) (r ReadyHear, err error) {
	if len(c.Body) == 0 {
		return r, nil
	}
	if err := c.Decode(&r); err != nil {
		return r, err
	}
	if r.Chunk < 0 || r.Tail < 0 || r.Chunk > maxDelay || r.Tail > maxDelay {
		return ReadyHear{}, fmt.Errorf("%w: an impossible delay", helper.ErrProtocol)
	}
	return r, nil
}

// A Hypothesis is the recognition of an utterance, interim or final.
type Hypothesis struct {
	Stream     uint32       `json:"stream"`
	Text       earshot.Text `json:"text"`
	Heard      int          `json:"heard,omitempty"` // how many samples of it it is based on; 0 is unknown
	Confidence float64      `json:"confidence"`      // 0 to 1; only if final
	Means      []float32    `json:"means,omitempty"` // only if final
}

// A Phrase was found.
type Phrase struct {
	Stream uint32       `json:"stream"`
	Text   earshot.Text `json:"text"`
	Sample int          `json:"sample"` // how much of the stream had been heard then
}

// The limits of what is accepted.
const (
	MaxMeans = 64      // coefficients; the model has 13
	maxMean  = 1 << 10 // of one coefficient; those of speech are below 100

	maxDelay = 10 * audio.Rate // samples; the slowest streaming model has 1.4 s
)

// DecodeHypothesis decodes one, and refuses what no correct helper sends.
func DecodeHypothesis(c helper.Control) (h Hypothesis, err error) {
	if err := c.Decode(&h); err != nil {
		return h, err
	}
	ok := h.Confidence >= 0 && h.Confidence <= 1 && h.Heard >= 0 && len(h.Text) <= earshot.MaxText && len(h.Means) <= MaxMeans
	for _, m := range h.Means {
		ok = ok && -maxMean < m && m < maxMean
	}
	if !ok {
		return Hypothesis{}, fmt.Errorf("%w: an invalid hypothesis", helper.ErrProtocol)
	}
	return h, nil
}

// DecodePhrase decodes one, and refuses what no correct helper sends.
func DecodePhrase(c helper.Control) (p Phrase, err error) {
	if err := c.Decode(&p); err != nil {
		return p, err
	}
	if p.Stream&Spot == 0 || p.Sample < 0 || p.Text == "" {
		return Phrase{}, fmt.Errorf("%w: an invalid phrase", helper.ErrProtocol)
	}
	return p, nil
}

// OpenSay says with which voice the helper speaks.
type OpenSay struct {
	Voice string  `json:"voice"`
	Speed float64 `json:"speed"` // 1 is the voice's own, 2 twice as fast

	// Only to earshot-neural:
	Set     string `json:"set,omitempty"`     // the folder of the set of models to speak with
	Speaker string `json:"speaker,omitempty"` // of a voice that has several, by name or number; empty is the first
}

// ReadySay says how the helper speaks. Without it, that is as earshot-speech does.
type ReadySay struct {
	Rate int `json:"rate,omitempty"` // of its sound, samples a second; 0 is [audio.Rate]

	// Voice names what speaks. Helpers with the same name say the same text in the same samples.
	Voice string `json:"voice,omitempty"`
}

// ValidRate reports whether a voice can have that rate, in samples a second: from 8000 to 48000, of
// which 20 ms are a whole number.
func ValidRate(rate int) bool { return rate >= 8000 && rate <= 48000 && rate%50 == 0 }

// DecodeReadySay decodes it, and refuses what no correct helper sends.
func DecodeReadySay(c helper.Control) (r ReadySay, err error) {
	if len(c.Body) > 0 {
		if err := c.Decode(&r); err != nil {
			return r, err
		}
	}
	if r.Rate = cmp.Or(r.Rate, audio.Rate); !ValidRate(r.Rate) {
		return ReadySay{}, fmt.Errorf("%w: a voice with %d samples a second", helper.ErrProtocol, r.Rate)
	}
	return r, nil
}

// A Mark says that the word at byte Byte of the text begins at sample Sample.
type Mark struct{ Byte, Sample uint32 }

// markSize is that of an encoded mark, in bytes.
const markSize = 8

// MaxMarks is how many fit into one message.
const MaxMarks = helper.MaxSound / markSize

// AppendMarks appends marks to b, little-endian.
func AppendMarks(b []byte, marks ...Mark) []byte {
	for _, m := range marks {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, m.Byte), m.Sample)
	}
	return b
}

// DecodeMarks appends to marks what AppendMarks wrote, and refuses marks that do not ascend, or are
// after the text's end.
func DecodeMarks(marks []Mark, b []byte, text int) ([]Mark, error) {
	wrong := len(b)%markSize != 0
	for ; len(b) >= markSize && !wrong; b = b[markSize:] {
		m := Mark{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
		wrong = int64(m.Byte) >= int64(text) || m.Sample > math.MaxInt32
		if n := len(marks); n > 0 {
			wrong = wrong || m.Byte <= marks[n-1].Byte || m.Sample < marks[n-1].Sample
		}
		marks = append(marks, m)
	}
	if wrong {
		return nil, fmt.Errorf("%w: invalid words", helper.ErrProtocol)
	}
	return marks, nil
}
