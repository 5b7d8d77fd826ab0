package discord

import (
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/sound/deck"
)

const (
	// advance is how much is encoded before it leaves, in samples: 100 ms, so that the schedule has
	// a frame every 20 ms even if the encoder, which is another process, is a little late. Ducking
	// is heard with this delay; a pause and a cut are not delayed.
	advance = 5 * audio.Samples

	// buffered is how much more waits to be encoded: enough for a voice that is held up.
	buffered = deck.Most

	// delay is by how many samples the content of a frame lags behind what it was made from.
	delay = int64(codec.OpusDelay * audio.Rate / time.Second)
)

// A speechBuffer is the sound of one speech on its way into a call: what was written, what the
// encoder has, and what has left. It has neither lock nor clock. Samples are counted from the
// beginning of the speech.
type speechBuffer struct {
	pcm   []int16 // the sound that has not left
	from  int64   // the position of its first sample
	given int64   // the end of what the encoder has been given
	whole bool    // nothing more is written

	fader audio.Fader
	gain  float64

	// The run is what the encoder was given since it began anew.
	base         int64
	frames, left int64 // frames made by the encoder, and how many of them have left
	flushed      bool  // the encoder has made all frames of the run
}

func newSpeechBuffer() *speechBuffer { return &speechBuffer{gain: 1} }

// room returns how many samples can be written.
func (r *speechBuffer) room() int { return max(0, advance+buffered-len(r.pcm)) }

// write appends samples.
func (r *speechBuffer) write(pcm []int16) { r.pcm = append(r.pcm, pcm...) }

// end is the end of what was written.
func (r *speechBuffer) end() int64 { return r.from + int64(len(r.pcm)) }

// at returns how far the speech has left. A frame made of a whole run ends with what its encoder
// held back.
func (r *speechBuffer) at() int64 {
	if r.flushed && r.left == r.frames {
		return r.given
	}
	return r.base + max(0, min(r.left*audio.Samples-delay, r.given-r.base))
}

// leave records how many frames of the run have left.
func (r *speechBuffer) leave(frames int64) {
	r.left = max(r.left, min(frames, r.frames))
	at := r.at()
	r.pcm = r.pcm[:copy(r.pcm, r.pcm[at-r.from:])]
	r.from = at
}

// next moves the next frame to encode into buf, or the shorter rest of the speech, and returns it.
// It is empty if there is nothing, or if enough is on its way.
func (r *speechBuffer) next(buf []int16, all bool) []int16 {
	rest := r.pcm[r.given-r.from:]
	if r.flushed || r.given-r.at() > advance-audio.Samples+delay || len(rest) < len(buf) && !all {
		return nil
	}
	n := copy(buf, rest)
	r.given += int64(n)
	r.fader.Apply(buf[:n])
	return buf[:n]
}

// starved reports that the encoder has everything and holds back the last of it, which would be
// late if it left only with what follows.
func (r *speechBuffer) starved() bool {
	return !r.flushed && r.given > r.base && r.given == r.end() && (r.whole || r.given-r.at() <= 2*audio.Samples+delay)
}

// over reports that the run has left, and that more will follow.
func (r *speechBuffer) over() bool { return r.flushed && r.left == r.frames && r.end() > r.given }

// gone reports that everything has left.
func (r *speechBuffer) gone() bool { return r.whole && r.at() == r.end() }

// waits reports that something is still to leave.
func (r *speechBuffer) waits() bool { return r.at() < r.end() }

// anew begins another run, after what has left.
func (r *speechBuffer) anew() {
	r.base = r.at()
	r.given = r.base
	r.frames, r.left, r.flushed = 0, 0, false
}

// rewind begins another run in the middle of the sound: it fades in.
func (r *speechBuffer) rewind() {
	r.anew()
	r.fader.Set(0, 0)
	r.fader.Set(r.gain, deck.Fade)
}

// tell sets the volume of what follows.
func (r *speechBuffer) tell(c earshot.Control) {
	r.gain = 1
	if c == earshot.Duck {
		r.gain = audio.Decibels(deck.Ducked)
	}
	r.fader.Set(r.gain, deck.Ramp)
}
