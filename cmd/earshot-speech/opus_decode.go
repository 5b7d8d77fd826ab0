//go:build cgo

package main

import (
	"math"
	"time"

	"github.com/asticode/go-astiav"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// strayed is how far the time of a packet may be from that of the sound before it until it counts
// as a new beginning: half a packet.
const strayed = audio.Time / 2

// inputPadding is how many zeros FFmpeg needs after its input, since it reads ahead:
// AV_INPUT_BUFFER_PADDING_SIZE.
const inputPadding = 64

// An opusDecoder is the decoder of one speaker. From each packet of 20 ms it makes exactly one
// frame.
type opusDecoder struct {
	last int64 // when it was used

	decoder *mediaDecoder
	down    *resampler
	frames  *framer
	packet  *astiav.Packet
	damaged int // packets since the last frame
	padded  []byte
}

// newOpusDecoder returns a decoder that passes its frames to send, with how many packets were
// damaged since the last one.
func newOpusDecoder(c *astiav.Codec, send func(damaged int, frame []byte) error) (_ *opusDecoder, err error) {
	e := &opusDecoder{packet: astiav.AllocPacket()}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.decoder, err = openMediaDecoder(c, mono); err != nil {
		return nil, err
	}
	if e.frames, err = newFramer(math.MaxInt64, func(frame []byte) error {
		damaged := e.damaged
		e.damaged = 0
		return send(damaged, frame)
	}); err != nil {
		return nil, err
	}
	if e.down, err = newResampler(monoKind(opusRate), audio.Rate); err != nil {
		return nil, err
	}
	return e, e.prime()
}

// mono has libopus mix a stereo packet itself, which costs least.
func mono(c *astiav.CodecContext) error {
	c.SetSampleRate(opusRate)
	c.SetChannelLayout(astiav.ChannelLayoutMono)
	c.SetTimeBase(astiav.NewRational(1, opusRate))
	return nil
}

// prime fills the resampler with silence. The resampler keeps one millisecond back: from then on it
// returns 20 ms for every 20 ms, one millisecond late.
func (e *opusDecoder) prime() error {
	silence, err := monoFrame(opusRate, make([]int16, opusSamples))
	if err != nil {
		return err
	}
	defer silence.Free()
	return e.down.push(silence, func([]int16) error { return nil })
}

// take passes on the sound of a packet, after silence for the missing ones before it. A damaged
// one is silent.
func (e *opusDecoder) take(p codec.Packet) error {
	begins := p.At.Add(-time.Duration(p.Lost) * audio.Time)
	if e.frames.filled == 0 || begins.Sub(e.due()).Abs() >= strayed {
		if err := e.frames.finish(); err != nil {
			return err
		}
		e.frames.frame.At = begins
	}
	if err := e.frames.silence(p.Lost * audio.Samples); err != nil || len(p.Data) == 0 {
		return err
	}
	return e.decode(p.Data)
}

// due is when the next sample is.
func (e *opusDecoder) due() time.Time {
	return e.frames.frame.At.Add(time.Duration(e.frames.filled) * time.Second / audio.Rate)
}

func (e *opusDecoder) decode(data []byte) error {
	e.padded = append(append(e.padded[:0], data...), make([]byte, inputPadding)...)
	if err := e.packet.FromData(e.padded); err != nil {
		return err
	}
	e.packet.SetSize(len(data))
	damaged, err := e.decoder.decode(e.packet, func(f *astiav.Frame) error { return e.down.push(f, e.frames.add) })
	e.packet.Unref()
	if err != nil || damaged == 0 {
		return err
	}
	e.damaged++
	return e.frames.silence(audio.Samples)
}

func (e *opusDecoder) close() {
	if e.down != nil {
		e.down.close()
	}
	if e.decoder != nil {
		e.decoder.close()
	}
	e.packet.Free()
}

// monoKind is sound that we make ourselves.
func monoKind(rate int) soundKind {
	return soundKind{rate, astiav.SampleFormatS16, 1, "mono"}
}

// monoFrame returns a frame of pcm, which there must be some of.
func monoFrame(rate int, pcm []int16) (*astiav.Frame, error) {
	return soundFrame(rate, astiav.ChannelLayoutMono, len(pcm), func(samples []int16) { copy(samples, pcm) })
}
