package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"earshot/internal/helper"
)

// Sensing, by earshot-neural. Open and Ready are as in hearing. Sound goes to the helper in streams of
// frames of samples, as long as somebody listens, and ends with an empty message. With the bit [Turn] a
// message asks whether the speaker has finished; it is a [Question]. Back come, in the same streams,
// whether there is a voice, by the number of samples that have been heard, and with the bit Turn the
// answers, by the numbers of the questions. Each is a [Probability].

// Turn is a bit of the number of a stream: to sense, whether the speaker in it has finished.
const Turn = 1 << 31

// MaxSenses is how many streams may be sensed at a time: those of a call, twice.
const MaxSenses = 64

// OpenSense says with which sets of models the helper senses, by their folders. An empty one is none.
type OpenSense struct {
	VAD  string `json:"vad,omitempty"`  // whether there is a voice
	Turn string `json:"turn,omitempty"` // whether the speaker has finished
}

// A Question is whether the speaker has finished.
type Question struct {
	Number  uint32 // from 1
	Samples uint32 // the last of the stream that are of what they are saying; a model may hear fewer
}

// Append appends q to b, little-endian.
func (q Question) Append(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, q.Number), q.Samples)
}

// DecodeQuestion decodes one.
func DecodeQuestion(b []byte) (Question, error) {
	if len(b) != encoded {
		return Question{}, fmt.Errorf("%w: an invalid question", helper.ErrProtocol)
	}
	return Question{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}, nil
}

// A Probability is a result of sensing.
type Probability struct {
	Of uint32  // the number of a question, or of samples
	P  float32 // from 0 to 1
}

// encoded is the size of an encoded question or probability, in bytes.
const encoded = 8

// Append appends p to b, little-endian.
func (p Probability) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, p.Of)
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(p.P))
}

// DecodeProbability decodes one, and refuses what no correct helper sends.
func DecodeProbability(b []byte) (p Probability, err error) {
	if len(b) == encoded {
		p = Probability{binary.LittleEndian.Uint32(b), math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))}
	}
	if len(b) != encoded || !(p.P >= 0 && p.P <= 1) {
		return Probability{}, fmt.Errorf("%w: an invalid probability", helper.ErrProtocol)
	}
	return p, nil
}
