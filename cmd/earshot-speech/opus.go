//go:build cgo

package main

import (
	"fmt"
	"time"

	"github.com/asticode/go-astiav"

	"earshot/internal/codec"
	"earshot/internal/helper"
)

// opusRate is the rate of all Opus, and opusSamples are 20 ms of it.
const (
	opusRate    = 48000
	opusSamples = opusRate / 50
)

// promptly is how long coding a message may take: thousands of times what it needs.
const promptly = 2 * time.Second

// A call decodes the sound of its speakers, and encodes the sound for them. It decides nothing,
// and handles everything in order.
type call struct {
	server  *helper.Server
	decoder *astiav.Codec
	encoder *astiav.Codec

	ears  map[uint32]*opusDecoder
	turn  int64  // rises with each packet
	batch []byte // frames to be sent

	mouth *opusEncoder // nil between utterances
	last  uint32       // the number of the last utterance
	pcm   []int16
}

// newCall returns nil without libopus. FFmpeg has a decoder of its own, too, but that one makes
// less than 20 ms of some packets and more of the next.
func newCall(s *helper.Server) *call {
	c := &call{
		server:  s,
		decoder: astiav.FindDecoderByName("libopus"), encoder: astiav.FindEncoderByName("libopus"),
		ears: make(map[uint32]*opusDecoder),
	}
	if c.decoder == nil || c.encoder == nil {
		return nil
	}
	return c
}

// performCall runs a call until its input closes.
func performCall(s *helper.Server) error {
	c := newCall(s)
	if c == nil {
		return s.Send(codec.MsgUnable, nil)
	}
	defer c.close()
	return s.Sounds(func(m helper.Sound) error {
		defer s.Guard(promptly)()
		if m.Stream == 0 {
			return c.hear(m.Data)
		}
		return c.say(m.Stream, m.Data)
	})
}

// hear decodes a batch of packets, and sends the frames that it makes.
func (c *call) hear(b []byte) error {
	c.batch = c.batch[:0]
	if err := codec.EachPacket(b, c.decode); err != nil {
		return err
	}
	return c.sendBatch()
}

// decode decodes a packet. An empty one releases the decoder.
func (c *call) decode(p codec.Packet) error {
	ear := c.ears[p.Speaker]
	if p.Lost == 0 && len(p.Data) == 0 {
		if ear != nil {
			ear.close()
			delete(c.ears, p.Speaker)
		}
		return nil
	}
	if ear == nil {
		if len(c.ears) >= codec.MaxSpeakers {
			c.giveUpQuietest()
		}
		var err error
		if ear, err = newOpusDecoder(c.decoder, func(damaged int, frame []byte) error { return c.add(p.Speaker, damaged, frame) }); err != nil {
			return fmt.Errorf("making a decoder: %w", err)
		}
		c.ears[p.Speaker] = ear
	}
	c.turn++
	ear.last = c.turn
	return ear.take(p)
}

// giveUpQuietest releases the decoder of the speaker who has been silent longest.
func (c *call) giveUpQuietest() {
	var quietest *opusDecoder
	var who uint32
	for speaker, ear := range c.ears {
		if quietest == nil || ear.last < quietest.last {
			quietest, who = ear, speaker
		}
	}
	quietest.close()
	delete(c.ears, who)
}

// add adds a frame to those that are to be sent.
func (c *call) add(speaker uint32, damaged int, frame []byte) error {
	if !codec.FitsFrame(c.batch) {
		if err := c.sendBatch(); err != nil {
			return err
		}
	}
	c.batch = codec.AppendFrame(c.batch, speaker, damaged, frame)
	return nil
}

func (c *call) sendBatch() error {
	if len(c.batch) == 0 {
		return nil
	}
	err := c.server.SendSound(0, c.batch)
	c.batch = c.batch[:0]
	return err
}

// say encodes samples of an utterance, or its end. Late samples of one that was given up are
// ignored.
func (c *call) say(number uint32, b []byte) error {
	if number < c.last || number == c.last && c.mouth == nil {
		return nil
	}
	if number > c.last {
		c.hush()
		c.last = number
		var err error
		if c.mouth, err = newOpusEncoder(c.encoder, func(opus []byte) error { return c.server.SendSound(number, opus) }); err != nil {
			return fmt.Errorf("making an encoder: %w", err)
		}
	}
	if len(b) == 0 {
		err := c.mouth.finish()
		c.hush()
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		return c.server.SendSound(number, nil)
	}
	rate, pcm, err := codec.DecodeSpeech(c.pcm[:0], b)
	if c.pcm = pcm; err != nil {
		return err
	}
	if err := c.mouth.say(rate, pcm); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	return nil
}

// hush drops the current utterance.
func (c *call) hush() {
	if c.mouth != nil {
		c.mouth.close()
		c.mouth = nil
	}
}

func (c *call) close() {
	c.hush()
	for _, ear := range c.ears {
		ear.close()
	}
}
