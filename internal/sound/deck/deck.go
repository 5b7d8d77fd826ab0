// Package deck decides, sample by sample, what a loudspeaker is given: the speech that is sent to
// it, ducked, paused or cut, or else silence. It has no clock, no goroutine and no device. The
// driver of the device asks [Deck.Next] for every block, reports how much the device still holds,
// and so learns what was really played.
//
// What happens when a reader is slow: a deck holds at most [Most] of a speech and gives credit for
// what it handed on, so that the sender waits.
package deck

import (
	"errors"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
)

// Most returns how much of a speech at a rate a deck holds, in samples: 200 ms, enough for a sender
// that is held up, and little to throw away at a cut. Every speech begins with this credit; the
// credit of a Report is in addition.
func Most(rate int) int { return rate / 5 }

// MaxRate is the highest rate of a speech, in samples a second.
const MaxRate = 48000

const (
	// Fade is how long a pause or a cut takes to become silent, and a resumed speech to become
	// loud: too short to be heard as a fade, and without a click.
	Fade = 5 * time.Millisecond

	// Ramp is how long ducking takes. A sudden change would sound like a fault.
	Ramp = 20 * time.Millisecond

	// Ducked is how much lower a ducked voice is, in dB: still intelligible, and easy to speak
	// over.
	Ducked = -12
)

// ErrFull is the error of sound beyond the credit.
var ErrFull = errors.New("more sound than the credit allows")

// A mode is what a deck does with its speech.
type mode int

const (
	empty    mode = iota // there is no speech
	sounding             // its samples are handed on
	pausing              // the next block fades out, and is kept
	paused
	cutting // the next block fades out
	cut     // silent, until the device has played what it was given
)

// A Deck plays one speech at a time. Its methods may be called from many
// goroutines, but Next and Played from one.
type Deck struct {
	woken chan struct{}

	mu     sync.Mutex
	volume float64
	fader  audio.Fader
	mode   mode
	play   uint32  // the speech's number
	rate   int     // its samples a second
	queue  []int16 // what was added and not handed on, at most 200 ms
	given  int64   // samples of the speech that were handed on
	total  int64   // samples that it has, or unknown
	endAt  int64   // its end in out, once known
	out    int64   // samples that were handed on in total, with silence
	marks  marks
	report Report
	told   int64 // position that was last reported
}

// unknown is the length of a speech that is still being sent, and the end of one that is not over.
const unknown = -1

// New returns a deck. The volume is the gain of everything, 0 to 1.
func New(volume float64) *Deck {
	return &Deck{volume: volume, woken: make(chan struct{}, 1), queue: make([]int16, 0, Most(audio.Rate)), marks: marks{all: make([]mark, 0, maxMarks)}}
}

// Woken signals that there is something to play, after there was nothing.
func (d *Deck) Woken() <-chan struct{} { return d.woken }

// Play begins the speech with a number, at a rate in samples a second. The rest of an earlier one is
// dropped silently, since its sender has moved on.
func (d *Deck) Play(play uint32, rate int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = d.queue[:0]
	d.marks.clear()
	d.mode, d.play, d.rate = sounding, play, rate
	d.given, d.total, d.endAt, d.told = 0, unknown, unknown, 0
	d.report = Report{Play: play}
	d.fader = audio.Fader{Rate: rate}
	d.fader.Set(d.volume, 0)
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// Add adds sound to the speech. Sound of another speech, or after a cut, is late and ignored.
// Sound beyond the credit is [ErrFull].
func (d *Deck) Add(play uint32, pcm []int16) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if play != d.play || d.mode == empty || d.mode >= cutting {
		return nil
	}
	if len(d.queue)+len(pcm) > Most(d.rate) {
		return ErrFull
	}
	d.queue = append(d.queue, pcm...)
	return nil
}

// Finish says how many samples the speech has.
func (d *Deck) Finish(play uint32, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if play == d.play && d.total == unknown {
		d.total = max(0, total)
		d.finished()
	}
}

// Do applies a control to the speech from the next block on.
func (d *Deck) Do(play uint32, c earshot.Control) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if play != d.play || d.mode == empty || d.mode >= cutting {
		return
	}
	switch c {
	case earshot.Duck:
		d.goOn(d.volume * audio.Decibels(Ducked))
	case earshot.Pause:
		if d.mode == sounding {
			d.mode = pausing
		}
	case earshot.Resume:
		d.goOn(d.volume)
	case earshot.Cut:
		d.cut()
	}
}

// goOn continues at a volume; after a pause, at the sample where the pause began.
func (d *Deck) goOn(gain float64) {
	over := Ramp
	if d.mode == paused {
		over = Fade
	}
	d.mode = sounding
	d.fader.Set(gain, over)
}

// cut fades out, if anything sounds.
func (d *Deck) cut() {
	if d.mode == paused {
		d.mode, d.endAt = cut, d.out
		return
	}
	d.mode = cutting
}

// Next fills pcm with what comes next, and reports whether there is a speech; otherwise it is
// silence. Blocks should not be shorter than the fade.
func (d *Deck) Next(pcm []int16) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != empty {
		d.awake()
	}
	n := 0
	switch d.mode {
	case sounding:
		n = d.sound(pcm)
	case pausing:
		n = d.fade(pcm)
		d.mode = paused
	case cutting:
		n = d.fade(pcm)
		d.queue = d.queue[:0]
		d.mode, d.endAt = cut, d.out+int64(n)
	}
	clear(pcm[n:])
	d.out += int64(len(pcm))
	return d.mode != empty
}

// awake drops a pending wake-up of a caller that is awake.
func (d *Deck) awake() {
	select {
	case <-d.woken:
	default:
	}
}

// sound hands on the available part of the speech.
func (d *Deck) sound(pcm []int16) int {
	n := copy(pcm, d.queue)
	d.queue = slices.Delete(d.queue, 0, n)
	d.fader.Apply(pcm[:n])
	d.marks.add(d.out, d.given, n)
	d.given += int64(n)
	d.report.Credit += n
	d.finished()
	return n
}

// fade hands on a little of the speech, fading out, and keeps it: it was not properly heard, so it
// does not count, and a resumed speech begins with it.
func (d *Deck) fade(pcm []int16) int {
	most := int(Fade.Seconds() * float64(d.rate))
	n := copy(pcm[:min(most, len(pcm))], d.queue)
	d.fader.Set(0, time.Duration(n)*time.Second/time.Duration(d.rate))
	d.fader.Apply(pcm[:n])
	return n
}

// finished records where the speech ends, when the last of it was handed on.
func (d *Deck) finished() {
	if d.total != unknown && d.given >= d.total && d.endAt == unknown && d.mode != empty {
		d.endAt = d.marks.end(d.out)
	}
}

// A Report is what the sender of a speech must be told.
type Report struct {
	Play    uint32 `json:"play"`
	Credit  int    `json:"credit,omitempty"` // samples that may be sent in addition
	Samples int64  `json:"samples"`          // that were played, of this speech
	End     bool   `json:"end,omitempty"`    // nothing more of it is played
}

// Played records that the device has played everything it was given except the last held samples,
// and returns a report if one is due.
func (d *Deck) Played(held int64) (r Report, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode == empty {
		return Report{}, false
	}
	at := d.out - max(0, held)
	d.report.Samples = max(d.report.Samples, d.marks.played(at))
	d.report.End = d.endAt != unknown && at >= d.endAt
	if !d.worth() {
		return Report{}, false
	}
	r = d.report
	d.report.Credit, d.told = 0, r.Samples
	if r.End {
		d.mode = empty
	}
	return r, true
}

// worth reports whether a report is due: after a step, or at the end of what there is.
func (d *Deck) worth() bool {
	news, step := d.report.Samples-d.told, d.rate/50
	return d.report.End || d.report.Credit >= step || news >= int64(step) || news > 0 && d.report.Samples == d.given
}
