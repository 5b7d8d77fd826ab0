package satellite

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// A Packet is 20 ms of captured sound.
type Packet struct {
	audio.Frame        // its annotations; the samples are not used
	Opus        []byte // of one packet, at most [codec.MaxOpus]
	Quiet       bool   // stands for the second before the next packet, in which nobody was heard
	Level       int8   // of the samples, in dB below full scale, from -96 to 0
}

// packetHead is the length of what stands before the Opus: time, echo ratio, lost, flags, level.
const packetHead = 8 + 4 + 2 + 1 + 1

const (
	flagVoiced = 1 << iota
	flagOwn
	flagBeside
	flagQuiet
)

// ErrPacket is the error of bytes that are no packet.
var ErrPacket = errors.New("not a packet of sound")

// Append appends p to b, little-endian.
func (p *Packet) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(p.At.UnixNano()))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.EchoRatio))
	b = binary.LittleEndian.AppendUint16(b, p.Lost)
	flags := byte(0)
	for i, set := range []bool{p.Voiced, p.Own, p.Beside, p.Quiet} {
		if set {
			flags |= 1 << i
		}
	}
	return append(append(b, flags, byte(p.Level)), p.Opus...)
}

// Decode reads what Append wrote; Opus is a part of b. Whatever the bytes are, p is within its
// limits, or the error is [ErrPacket].
func (p *Packet) Decode(b []byte) error {
	if len(b) <= packetHead || len(b) > packetHead+codec.MaxOpus {
		return ErrPacket
	}
	flags, level := b[14], int8(b[15])
	echo := math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
	if flags&^(flagVoiced|flagOwn|flagBeside|flagQuiet) != 0 || !(echo >= 0 && echo <= 1) || level > 0 || float64(level) < audio.Silence {
		return ErrPacket
	}
	p.At = time.Unix(0, int64(binary.LittleEndian.Uint64(b)))
	p.EchoRatio, p.Lost, p.Level = echo, binary.LittleEndian.Uint16(b[12:]), level
	p.Voiced, p.Own, p.Beside, p.Quiet = flags&flagVoiced != 0, flags&flagOwn != 0, flags&flagBeside != 0, flags&flagQuiet != 0
	p.Opus = b[packetHead:]
	return nil
}
