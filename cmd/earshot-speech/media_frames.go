//go:build cgo

package main

import (
	"time"

	"github.com/maxhawkins/go-webrtcvad"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// vadMode is the mode of the voice detector: of 0 to 3, the one that by measurement tells a voice
// from noise without losing its onset.
const vadMode = 2

// vadBlind is how many frames a new voice detector takes for a voice, whatever they are, if there
// is any noise: 100 ms. Speech within them is not lost: what comes before an onset is kept.
const vadBlind = 5

// A framer makes frames of samples.
type framer struct {
	vad  *webrtcvad.VAD
	send func([]byte) error // takes an encoded frame

	frame  audio.Frame // whose At is when it is due
	filled int         // samples of frame
	sent   int64
	most   int64  // frames
	raw    []byte // the samples of frame
	coded  []byte
}

func newFramer(longest time.Duration, send func([]byte) error) (*framer, error) {
	vad, err := webrtcvad.New()
	if err != nil {
		return nil, err
	}
	if err := vad.SetMode(vadMode); err != nil {
		return nil, err
	}
	return &framer{
		vad: vad, send: send, most: int64(longest / audio.Time), frame: audio.Frame{At: time.Unix(0, 0)},
		raw: make([]byte, 0, 2*audio.Samples), coded: make([]byte, 0, audio.Size),
	}, nil
}

// add takes samples, and sends each frame that is full.
func (f *framer) add(pcm []int16) error {
	for len(pcm) > 0 {
		n := copy(f.frame.PCM[f.filled:], pcm)
		pcm = pcm[n:]
		if f.filled += n; f.filled == audio.Samples {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// silence stands for n samples that are missing.
func (f *framer) silence(n int) error {
	var none [audio.Samples]int16
	for n > 0 {
		part := min(n, len(none))
		if err := f.add(none[:part]); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// finish sends the last frame, filled up with silence.
func (f *framer) finish() error {
	if f.filled == 0 {
		return nil
	}
	clear(f.frame.PCM[f.filled:])
	return f.flush()
}

// flush sends the frame.
func (f *framer) flush() error {
	if f.sent >= f.most {
		return &sourceError{codec.TooLong, ""}
	}
	f.raw = audio.AppendPCM(f.raw[:0], f.frame.PCM[:])
	voiced, err := f.vad.Process(audio.Rate, f.raw)
	if err != nil {
		return err
	}
	f.frame.Voiced = voiced && f.sent >= vadBlind
	f.coded = f.frame.Append(f.coded[:0])
	f.frame.At = f.frame.At.Add(audio.Time)
	f.filled = 0
	f.sent++
	return f.send(f.coded)
}
