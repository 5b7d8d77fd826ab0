//go:build cgo

package main

import (
	"errors"
	"time"
	"unsafe"

	"github.com/asticode/go-astiav"

	"earshot/internal/codec"
)

// How speech is encoded.
var opusOptions = map[string]string{
	"application":    "voip",
	"frame_duration": "20",
	"fec":            "1",  // each frame has a poor copy of the one before, for who has lost that
	"packet_loss":    "10", // in percent: with less, libopus leaves the copies out
}

const (
	opusBits = 64000 // a second

	// opusDelay is [codec.OpusDelay] in samples.
	opusDelay = int(codec.OpusDelay * opusRate / time.Second)
)

// An opusEncoder is an encoder for one utterance.
type opusEncoder struct {
	send func([]byte) error

	codec  *astiav.CodecContext
	packet *astiav.Packet
	up     *resampler // nil until there is something to say
	rate   int        // that it takes
	pcm    []int16    // less than a frame, at opusRate
	pts    int64
}

// newOpusEncoder returns one that hands Opus packets to send.
func newOpusEncoder(c *astiav.Codec, send func([]byte) error) (_ *opusEncoder, err error) {
	m := &opusEncoder{send: send, codec: astiav.AllocCodecContext(c), packet: astiav.AllocPacket()}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	m.codec.SetSampleRate(opusRate)
	m.codec.SetChannelLayout(astiav.ChannelLayoutStereo)
	m.codec.SetSampleFormat(astiav.SampleFormatS16)
	m.codec.SetBitRate(opusBits)
	m.codec.SetTimeBase(astiav.NewRational(1, opusRate))
	options := astiav.NewDictionary()
	defer options.Free()
	for key, value := range opusOptions {
		if err := options.Set(key, value, 0); err != nil {
			return nil, err
		}
	}
	return m, m.codec.Open(c, options)
}

// say encodes samples at a rate, as far as they fill frames.
func (m *opusEncoder) say(rate int, pcm []int16) error {
	if len(pcm) == 0 {
		return nil
	}
	if m.up != nil && m.rate != rate {
		if err := m.drain(); err != nil {
			return err
		}
	}
	if m.up == nil {
		var err error
		if m.up, err = newResampler(monoKind(rate), opusRate); err != nil {
			return err
		}
		m.rate = rate
	}
	f, err := monoFrame(rate, pcm)
	if err != nil {
		return err
	}
	defer f.Free()
	return m.up.push(f, m.add)
}

// finish encodes what is left, filled up with silence until all of it is out.
func (m *opusEncoder) finish() error {
	if m.up == nil {
		return nil
	}
	if err := m.drain(); err != nil {
		return err
	}
	left := len(m.pcm) + opusDelay
	return m.add(make([]int16, (left+opusSamples-1)/opusSamples*opusSamples-len(m.pcm)))
}

// drain takes what the resampler holds back.
func (m *opusEncoder) drain() error {
	err := m.up.push(nil, m.add)
	m.up.close()
	m.up = nil
	return err
}

// add encodes samples of opusRate.
func (m *opusEncoder) add(pcm []int16) error {
	m.pcm = append(m.pcm, pcm...)
	done := 0
	for ; len(m.pcm)-done >= opusSamples; done += opusSamples {
		if err := m.encode(m.pcm[done : done+opusSamples]); err != nil {
			return err
		}
	}
	m.pcm = append(m.pcm[:0], m.pcm[done:]...)
	return nil
}

// encode encodes one frame, the same in both ears.
func (m *opusEncoder) encode(pcm []int16) error {
	f, err := soundFrame(opusRate, astiav.ChannelLayoutStereo, len(pcm), func(samples []int16) {
		for i, s := range pcm {
			samples[2*i], samples[2*i+1] = s, s
		}
	})
	if err != nil {
		return err
	}
	defer f.Free()
	f.SetPts(m.pts)
	m.pts += int64(len(pcm))
	if err := m.codec.SendFrame(f); err != nil {
		return err
	}
	for {
		err := m.codec.ReceivePacket(m.packet)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		}
		if err == nil {
			err = m.send(m.packet.Data())
			m.packet.Unref()
		}
		if err != nil {
			return err
		}
	}
}

func (m *opusEncoder) close() {
	if m.up != nil {
		m.up.close()
	}
	m.packet.Free()
	m.codec.Free()
}

// soundFrame returns a frame with n samples of 16 bits for each channel, which fill
// puts there. FFmpeg may go on using it when we have freed it.
func soundFrame(rate int, layout astiav.ChannelLayout, n int, fill func([]int16)) (*astiav.Frame, error) {
	f := astiav.AllocFrame()
	f.SetSampleFormat(astiav.SampleFormatS16)
	f.SetSampleRate(rate)
	f.SetChannelLayout(layout)
	f.SetNbSamples(n)
	if err := f.AllocBuffer(0); err != nil {
		f.Free()
		return nil, err
	}
	data := (*frameHead)(f.UnsafePointer()).data[0]
	fill(unsafe.Slice((*int16)(data), n*layout.NbChannels()))
	return f, nil
}
