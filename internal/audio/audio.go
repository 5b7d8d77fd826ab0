// Package audio is sound as the house passes it around: mono, 16 bits, 16 kHz,
// in frames of 20 ms that are annotated where they are made. So every decision
// about sound, such as when speech begins, is made from the same frames for a
// microphone, a voice channel and a file, and needs no device to be tested.
// What the agent says is not in frames, and has the rate of its voice.
//
// What happens when a reader is slow: a [Ring] stands between a source of frames
// and its reader; it drops the oldest, and the next one says how many are
// missing.
package audio

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// How sound is kept everywhere between a helper process and a model. Telephone
// quality is what recognisers are trained on.
const (
	Rate    = 16000                 // samples a second
	Samples = Rate / 50             // in a frame
	Time    = 20 * time.Millisecond // of a frame
	Size    = frameHead + 2*Samples // of an encoded frame, in bytes
)

// A Frame is 20 ms of sound of one source, with what was found out about it
// where it was made.
type Frame struct {
	At     time.Time // when its first sample was captured; for a file, when it is due
	PCM    [Samples]int16
	Voiced bool // a voice is in it

	// Own says that the agent's own sound came out of the same device while the
	// frame was captured.
	Own bool

	// EchoRatio is how much of the frame's energy is judged to be that sound,
	// come back: from 0, nothing, to 1, all of it or nobody can tell.
	EchoRatio float32

	// Beside says that somebody is plainly heard beside that sound, if only for this
	// moment.
	Beside bool

	// Lost is how many frames before this one are missing, because somebody
	// was too slow.
	Lost uint16
}

// frameHead is the length of the annotations: time, echo ratio, lost, flags.
const frameHead = 8 + 4 + 2 + 2

const (
	flagVoiced = 1 << iota
	flagOwn
	flagBeside
)

// Append appends f to b in the form that helpers send: little-endian.
func (f *Frame) Append(b []byte) []byte {
	var flags uint16
	if f.Voiced {
		flags |= flagVoiced
	}
	if f.Own {
		flags |= flagOwn
	}
	if f.Beside {
		flags |= flagBeside
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(f.At.UnixNano()))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f.EchoRatio))
	b = binary.LittleEndian.AppendUint16(b, f.Lost)
	b = binary.LittleEndian.AppendUint16(b, flags)
	return AppendPCM(b, f.PCM[:])
}

// ErrFrame is a frame that cannot be one.
var ErrFrame = errors.New("not a frame of sound")

// Decode reads what Append wrote. Whatever the bytes are, f is a frame that is
// safe to use, or the error is [ErrFrame].
func (f *Frame) Decode(b []byte) error {
	if len(b) != Size {
		return ErrFrame
	}
	flags := binary.LittleEndian.Uint16(b[14:])
	echo := math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
	if flags&^(flagVoiced|flagOwn|flagBeside) != 0 || !(echo >= 0 && echo <= 1) {
		return ErrFrame
	}
	f.At = time.Unix(0, int64(binary.LittleEndian.Uint64(b)))
	f.EchoRatio = echo
	f.Lost = binary.LittleEndian.Uint16(b[12:])
	f.Voiced, f.Own, f.Beside = flags&flagVoiced != 0, flags&flagOwn != 0, flags&flagBeside != 0
	DecodePCM(f.PCM[:], b[frameHead:])
	return nil
}

// AppendPCM appends samples to b, little-endian.
func AppendPCM(b []byte, pcm []int16) []byte {
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// DecodePCM fills pcm from b, and returns how many samples there were: no more
// than fit, and no half one.
func DecodePCM(pcm []int16, b []byte) int {
	n := min(len(pcm), len(b)/2)
	for i := range n {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return n
}

// Silence is the level of no sound at all, in dB: below the last bit of a
// sample.
const Silence = -96.0

// Level returns the level of pcm in dB below full scale, at least [Silence].
func Level(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return mean(sum, len(pcm))
}

// mean returns the level of n samples whose squares have that sum.
func mean(sum float64, n int) float64 {
	if sum == 0 {
		return Silence
	}
	return max(Silence, decibel(sum/float64(n)/(1<<30)))
}

// decibel returns the level of a power, power that of a level.
func decibel(power float64) float64 { return 10 * math.Log10(power) }

func power(level float64) float64 { return math.Pow(10, level/10) }
