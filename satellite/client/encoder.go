package client

import (
	"context"
	"sync"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/satellite"
)

// silence is an Opus packet of 20 ms in which nothing is heard. A quiet packet carries it.
var silence = []byte{0xf8, 0xff, 0xfe}

// An encoder makes packets of frames.
type encoder struct {
	*codec.Opus

	mu   sync.Mutex
	owed []pendingPacket // the frames of which the encoder has not made a packet yet, the oldest first
	lost int             // frames since the last one that was encoded
}

// A pendingPacket is the packet of a frame, without its sound, and who takes it.
type pendingPacket struct {
	packet satellite.Packet
	take   func(satellite.Packet)
}

func newEncoder(dial helper.Dialer) *encoder {
	e := new(encoder)
	e.Opus = codec.NewOpus(codec.OpusConfig{Dial: dial, Heard: func(uint32, *audio.Frame) {}, Encoded: e.encoded})
	return e
}

// encode encodes frames; take is called with the packet of each, from another goroutine. Ends says
// that they end what is said, and that all of it is to be taken before encode returns. If the
// encoder dies of it, the next packet says how many are missing.
func (e *encoder) encode(ctx context.Context, frames []audio.Frame, ends bool, take func(satellite.Packet)) error {
	for i := range frames {
		f := &frames[i]
		e.mu.Lock()
		p := satellite.Packet{Frame: audio.Frame{
			At: f.At.Add(-codec.OpusDelay), Voiced: f.Voiced, Own: f.Own, EchoRatio: f.EchoRatio, Beside: f.Beside,
			Lost: uint16(min(int(f.Lost)+e.lost, 1<<16-1)),
		}, Level: int8(audio.Level(f.PCM[:]))}
		e.owed, e.lost = append(e.owed, pendingPacket{p, take}), 0
		e.mu.Unlock()
		if e.Encode(ctx, audio.Rate, f.PCM[:]) != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e.forget()
		}
	}
	if ends {
		_ = e.Flush(ctx) // what it did not encode is forgotten
		e.forget()
	}
	return ctx.Err()
}

// forget gives up the packets that the encoder owes.
func (e *encoder) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += len(e.owed)
	e.owed = nil
}

// encoded takes an Opus packet: of the oldest frame that is owed, or else the rest of the last one,
// which is silent.
func (e *encoder) encoded(_ context.Context, opus []byte) {
	e.mu.Lock()
	if len(e.owed) == 0 {
		e.mu.Unlock()
		return
	}
	now := e.owed[0]
	e.owed = e.owed[1:]
	e.mu.Unlock()
	now.packet.Opus = opus
	now.take(now.packet)
}
