//go:build cgo

package main

import (
	webrtcvad "github.com/maxhawkins/go-webrtcvad"

	"earshot/internal/audio"
)

// vadMode is how strict the voice detector is, 0 to 3. At 2 it follows speech and ignores
// keyboards.
const vadMode = 2

// resting is for how many silent frames of our own sound the canceller goes on working: earlier
// sound may still come back.
const resting = int(tail / audio.Time)

// An echoRemover annotates the frames of a microphone, and removes our own sound from
// them. It is for one goroutine; close frees it.
type echoRemover struct {
	vad       *webrtcvad.VAD
	canceller *canceller
	gate      audio.Gate
	quiet     int // frames since our own sound
	used      bool
	raw       []byte
	left, out [audio.Samples]int16 // what the canceller makes of a frame
}

func newEchoRemover() (*echoRemover, error) {
	vad, err := webrtcvad.New()
	if err == nil {
		err = vad.SetMode(vadMode)
	}
	if err != nil {
		return nil, err
	}
	return &echoRemover{vad: vad, canceller: newCanceller(), quiet: resting}, nil
}

func (c *echoRemover) close() { c.canceller.close() }

// clean does so with f, while the loudspeaker played far, which continues the far of the frame
// before. The canceller works while something is played and may come back; without echo, frames
// stay unchanged. If others remove the echo already, ours is off.
func (c *echoRemover) clean(f *audio.Frame, far *[audio.Samples]int16, follows, off bool) {
	c.quiet++
	if audio.Level(far[:]) > audio.Silence {
		c.quiet = 0
	}
	if !follows {
		c.gate.Forget()
		c.canceller.forget()
	}
	use := false
	if c.quiet <= resting && !off {
		c.canceller.cancel(&f.PCM, far, &c.left, &c.out)
		use = c.gate.Judge(f, far[:], c.left[:]) && c.quiet < resting
	} else {
		c.gate.Judge(f, far[:], nil)
	}
	c.put(f, use)
	c.raw = audio.AppendPCM(c.raw[:0], f.PCM[:])
	f.Voiced, _ = c.vad.Process(audio.Rate, c.raw) // it fails only for another rate or length
}

// put puts the canceller's output into f, fading from one to the other.
func (c *echoRemover) put(f *audio.Frame, use bool) {
	switch {
	case use != c.used:
		fade(&f.PCM, &c.out, use)
	case use:
		f.PCM = c.out
	}
	c.used = use
}

// fade fades pcm into out, or the other way round, within the frame.
func fade(pcm, out *[audio.Samples]int16, in bool) {
	for i := range pcm {
		part := int32(i)
		if !in {
			part = audio.Samples - part
		}
		pcm[i] += int16((int32(out[i]) - int32(pcm[i])) * part / audio.Samples)
	}
}
