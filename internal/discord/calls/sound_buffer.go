package calls

import (
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/sound/deck"
)

const (
	// frames is how many a second has.
	frames = int(time.Second / audio.Time)

	// advance is how many frames are encoded before they leave: 100 ms, so that the schedule has a
	// frame every 20 ms even if the encoder, which is another process, is a little late. Ducking is
	// heard with this delay; a pause and a cut are not delayed.
	advance = 5
)

// A soundBuffer is the sound of one speech on its way into a call: what was written, what the
// encoder has, and what has left. It has neither lock nor clock. Samples are counted from the
// beginning of the speech. Besides what is encoded in advance, as much waits as a deck holds: enough
// for a voice that is held up.
type soundBuffer struct {
	rate  int   // samples a second
	frame int64 // samples
	delay int64 // by how many samples the content of a frame lags behind what it was made from

	pcm      []int16 // the sound that has not left
	from     int64   // the position of its first sample
	given    int64   // the end of what the encoder has been given
	complete bool    // nothing more is written

	fader audio.Fader
	gain  float64

	// The run is what the encoder was given since it began anew.
	base         int64
	frames, left int64 // frames made by the encoder, and how many of them have left
	flushed      bool  // the encoder has made all frames of the run
}

func newSoundBuffer(rate int) *soundBuffer {
	return &soundBuffer{
		rate: rate, frame: int64(rate / frames), delay: int64(codec.OpusDelay * time.Duration(rate) / time.Second),
		fader: audio.Fader{Rate: rate}, gain: 1,
	}
}

// room returns how many samples can be written.
func (b *soundBuffer) room() int { return max(0, advance*int(b.frame)+deck.Most(b.rate)-len(b.pcm)) }

// write appends samples.
func (b *soundBuffer) write(pcm []int16) { b.pcm = append(b.pcm, pcm...) }

// end is the end of what was written.
func (b *soundBuffer) end() int64 { return b.from + int64(len(b.pcm)) }

// position returns how far the speech has left. A frame made of a whole run ends with what its
// encoder held back.
func (b *soundBuffer) position() int64 {
	if b.flushed && b.left == b.frames {
		return b.given
	}
	return b.base + max(0, min(b.left*b.frame-b.delay, b.given-b.base))
}

// leave records how many frames of the run have left.
func (b *soundBuffer) leave(frames int64) {
	b.left = max(b.left, min(frames, b.frames))
	at := b.position()
	b.pcm = b.pcm[:copy(b.pcm, b.pcm[at-b.from:])]
	b.from = at
}

// next moves the next frame to encode into buf, or the shorter rest of the speech, and returns it.
// It is empty if there is nothing, or if enough is on its way.
func (b *soundBuffer) next(buf []int16, all bool) []int16 {
	rest := b.pcm[b.given-b.from:]
	if b.flushed || b.given-b.position() > (advance-1)*b.frame+b.delay || len(rest) < len(buf) && !all {
		return nil
	}
	n := copy(buf, rest)
	b.given += int64(n)
	b.fader.Apply(buf[:n])
	return buf[:n]
}

// starving reports that the encoder has everything and holds back the last of it, which would be
// late if it left only with what follows.
func (b *soundBuffer) starving() bool {
	return !b.flushed && b.given > b.base && b.given == b.end() && (b.complete || b.given-b.position() <= 2*b.frame+b.delay)
}

// runOver reports that the run has left, and that more will follow.
func (b *soundBuffer) runOver() bool { return b.flushed && b.left == b.frames && b.end() > b.given }

// allLeft reports that everything has left.
func (b *soundBuffer) allLeft() bool { return b.complete && b.position() == b.end() }

// waiting reports that something is still to leave.
func (b *soundBuffer) waiting() bool { return b.position() < b.end() }

// beginRun begins another run, after what has left.
func (b *soundBuffer) beginRun() {
	b.base = b.position()
	b.given = b.base
	b.frames, b.left, b.flushed = 0, 0, false
}

// rewind begins another run in the middle of the sound: it fades in.
func (b *soundBuffer) rewind() {
	b.beginRun()
	b.fader.Set(0, 0)
	b.fader.Set(b.gain, deck.Fade)
}

// setVolume sets the volume of what follows.
func (b *soundBuffer) setVolume(c earshot.Control) {
	b.gain = 1
	if c == earshot.Duck {
		b.gain = audio.Decibels(deck.Ducked)
	}
	b.fader.Set(b.gain, deck.Ramp)
}
