package audio

import (
	"cmp"
	"math"
	"time"
)

// loudest is the highest gain of a Fader, 30 dB: more makes a noise of any
// recording.
const loudest = 32

// Decibels returns the gain that changes a level by db: -6 about halves an
// amplitude.
func Decibels(db float64) float64 { return math.Pow(10, db/20) }

// A Fader changes the gain of a stream of samples without a click. It has no
// clock: time is what it has been given. The zero value leaves sound as it is. It
// is for one goroutine.
type Fader struct {
	Rate int // of the sound, in samples a second; 0 is [Rate]

	less float64 // the gain below 1, now; so zero changes nothing
	goal float64 // the same, when the ramp has ended
	step float64 // from one sample to the next
	left int     // samples until the ramp ends
}

// Set moves the gain evenly from its present value to gain, while the next over of sound passes;
// 0 is at once. Gains are from 0 to 32. A value outside becomes the nearest of them, and NaN
// becomes 0.
func (f *Fader) Set(gain float64, over time.Duration) {
	if !(gain >= 0) { // NaN too
		gain = 0
	}
	f.goal = 1 - min(gain, loudest)
	f.left = int(over.Seconds()*float64(cmp.Or(f.Rate, Rate)) + 0.5)
	if f.left <= 0 {
		f.left, f.less = 0, f.goal
		return
	}
	f.step = (f.goal - f.less) / float64(f.left)
}

// Apply changes pcm in place. What would be louder than full scale is full
// scale.
func (f *Fader) Apply(pcm []int16) {
	if f.left == 0 && f.less == 0 {
		return
	}
	for i, s := range pcm {
		f.advance()
		pcm[i] = int16(max(math.MinInt16, min(math.RoundToEven(float64(s)*(1-f.less)), math.MaxInt16)))
	}
}

// advance moves the gain by one sample.
func (f *Fader) advance() {
	switch f.left {
	case 0:
		return
	case 1:
		f.less = f.goal // exactly, whatever was rounded on the way
	default:
		f.less += f.step
	}
	f.left--
}
