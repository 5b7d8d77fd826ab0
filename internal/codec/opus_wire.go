package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// What is said between an [Opus] and the media role of earshot-speech.
//
// The client says call, once. From then on it sends packets as sound of stream 0,
// a batch a message, and for each the helper answers with the frames that it
// made, as one message of stream 0 if they fit into one. A packet that has
// neither lost ones nor data gives its decoder up.
//
// What is to be said goes by the number of its utterance as the stream; numbers
// rise, and a new one gives up what is left of the one before. A message is
// samples, or empty at the end of the utterance. The helper answers on the same
// stream, with an Opus frame each, and after the last one with an empty message.
const (
	MsgCall   = "call"   // no body
	MsgUnable = "unable" // no body; the answer where there is no libopus
)

// The limits of a call.
const (
	MaxSpeakers = 64   // that have a decoder; the least recently heard goes
	MaxOpus     = 1275 // bytes of a frame: RFC 6716, section 3.4

	// MaxLost is how many packets in sequence may be missing and still be heard as silence: two
	// seconds. After more, the stream begins again.
	MaxLost = 100

	MinSpeech, MaxSpeech = 8000, 48000 // samples a second of what is to be said
)

// OpusDelay is by how much what is heard is later than what was encoded: the
// lookahead of libopus for voice, 2.5 ms and 4 ms.
const OpusDelay = 6500 * time.Microsecond

const (
	packetHead = 4 + 8 + 2 + 2 // speaker, time, lost, length
	frameSize  = 4 + 2 + audio.Size
)

// AppendPacket appends p to b in the form that is sent to a helper.
func AppendPacket(b []byte, p *Packet) []byte {
	b = binary.LittleEndian.AppendUint32(b, p.Speaker)
	b = binary.LittleEndian.AppendUint64(b, uint64(p.At.UnixNano()))
	b = binary.LittleEndian.AppendUint16(b, uint16(p.Lost))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Data)))
	return append(b, p.Data...)
}

// EachPacket calls take with each packet that AppendPacket put into b; what they
// hold is a part of b. Whatever the bytes are, a packet is within the limits, or
// the error is [helper.ErrProtocol].
func EachPacket(b []byte, take func(Packet) error) error {
	for len(b) > 0 {
		if len(b) < packetHead {
			return fmt.Errorf("%w: half a packet", helper.ErrProtocol)
		}
		p := Packet{
			Speaker: binary.LittleEndian.Uint32(b),
			At:      time.Unix(0, int64(binary.LittleEndian.Uint64(b[4:]))),
			Lost:    int(binary.LittleEndian.Uint16(b[12:])),
		}
		n := int(binary.LittleEndian.Uint16(b[14:]))
		if b = b[packetHead:]; n > len(b) || n > MaxOpus || p.Lost > MaxLost {
			return fmt.Errorf("%w: a packet of %d bytes after %d lost ones", helper.ErrProtocol, n, p.Lost)
		}
		p.Data, b = b[:n:n], b[n:]
		if err := take(p); err != nil {
			return err
		}
	}
	return nil
}

// AppendFrame appends a frame that a helper made, coded already, to b, with how
// many damaged packets of the speaker there were since the last one.
func AppendFrame(b []byte, speaker uint32, damaged int, frame []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, speaker)
	b = binary.LittleEndian.AppendUint16(b, uint16(min(damaged, math.MaxUint16)))
	return append(b, frame...)
}

// eachFrame calls take with each frame that AppendFrame put into b. f is used for
// all of them. What is no frame is [helper.ErrProtocol].
func eachFrame(b []byte, f *audio.Frame, take func(speaker uint32, damaged int)) error {
	for ; len(b) > 0; b = b[frameSize:] {
		if len(b) < frameSize || f.Decode(b[6:frameSize]) != nil {
			return fmt.Errorf("%w: sound that is not a frame", helper.ErrProtocol)
		}
		take(binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[4:])))
	}
	return nil
}

// FitsFrame reports whether one more frame fits into a message of b.
func FitsFrame(b []byte) bool { return len(b)+frameSize <= helper.MaxSound }

// AppendSpeech appends samples of speech to b.
func AppendSpeech(b []byte, rate int, pcm []int16) []byte {
	return audio.AppendPCM(binary.LittleEndian.AppendUint32(b, uint32(rate)), pcm)
}

// DecodeSpeech reads what AppendSpeech wrote; the samples are appended to pcm.
func DecodeSpeech(pcm []int16, b []byte) (rate int, _ []int16, err error) {
	if len(b) < 4 || len(b)%2 != 0 {
		return 0, pcm, fmt.Errorf("%w: invalid speech", helper.ErrProtocol)
	}
	if rate = int(binary.LittleEndian.Uint32(b)); rate < MinSpeech || rate > MaxSpeech {
		return 0, pcm, fmt.Errorf("%w: speech of %d samples a second", helper.ErrProtocol, rate)
	}
	for b = b[4:]; len(b) > 0; b = b[2:] {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(b)))
	}
	return rate, pcm, nil
}
