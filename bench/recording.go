package main

import (
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
)

const (
	// lower is by how many dB it must be to be lowered.
	lower = 6

	// steady is how many frames before say how loud it was.
	steady = 25

	// handed is how many frames of silence are handed over of the five that end speech.
	handed = 3
)

// A recording is what somebody heard of the agent, frame by frame.
type recording struct {
	frames []framed
	pcm    []int16
}

// framed is one frame that came.
type framed struct {
	at     time.Time
	silent bool
}

// sound returns what was in a frame.
func (r recording) sound(i int) []int16 { return r.pcm[i*audio.Samples : (i+1)*audio.Samples] }

// ends reports whether the agent falls silent with a frame: it is no frame that is missing
// since the machine is busy.
func (r recording) ends(i int) bool {
	return i+handed <= len(r.frames) && !slices.ContainsFunc(r.frames[i:i+handed], func(f framed) bool { return !f.silent })
}

// runs returns the sound between silences, of what was being said when it was cut, and
// how many times a frame was missing in it. A run that begins later is another speech.
func (r recording) runs(cut time.Time) (runs [][]int16, missing int) {
	for i, f := range r.frames {
		begins := i == 0 || r.frames[i-1].silent
		switch {
		case f.silent:
			if !begins && !r.ends(i) {
				missing++
			}
			continue
		case begins && !cut.IsZero() && f.at.After(cut):
			return runs, missing
		case begins:
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], r.sound(i)...)
	}
	return runs, missing
}

// reacts returns when the agent was lowered, or silent, and when it was silent, after it
// was first told something; zero if it never was.
func (r recording) reacts(told time.Time) (lowered, silent time.Time) {
	var before []float64
	for i, f := range r.frames {
		switch {
		case f.at.Before(told):
			if !f.silent {
				before = append(before, audio.Level(r.sound(i)))
			}
		case r.ends(i):
			if lowered.IsZero() {
				lowered = f.at
			}
			return lowered, f.at
		case lowered.IsZero() && !f.silent && len(before) > 0 && audio.Level(r.sound(i)) <= spread(before[max(0, len(before)-steady):]).P50-lower:
			lowered = f.at
		}
	}
	return lowered, silent
}

// reacted looks at what was heard of what was said, after the frame with the onset had
// left.
func (r recording) reacted(left time.Time, told []controlled, said []int16) (y yielded) {
	y.told, y.stopped, y.duck, y.silent = -1, -1, -1, -1
	after := func(to *float64, at time.Time) {
		if *to < 0 && !at.IsZero() {
			*to = micros(at.Sub(left)) / 1000
		}
	}
	var cut time.Time
	for _, c := range told {
		if c.at.Before(left) {
			continue // it was for nothing
		}
		if y.told < 0 {
			lowered, silent := r.reacts(c.at)
			after(&y.duck, lowered)
			after(&y.silent, silent)
		}
		after(&y.told, c.at)
		switch c.what {
		case earshot.Cut:
			y.cut, cut = true, c.at
			after(&y.stopped, c.at)
		case earshot.Pause:
			after(&y.stopped, c.at)
		}
	}
	y.held = len(told) > 0 && told[len(told)-1].what == earshot.Pause
	runs, missing := r.runs(cut)
	y.broken, y.missing = !follows(runs, said), missing
	return y
}

// coderDelay is that of an encoder, in samples.
const coderDelay = int(codec.OpusDelay * audio.Rate / time.Second)

const (
	// coded is by how many samples what is heard may be later than what was said: the
	// encoder's delay, and what a decoder and a change of the rate add. All of a recording
	// is late by the same.
	coded = 200

	// slack is by how many samples that may differ: a millisecond.
	slack = audio.Rate / 1000

	// stretchOf is how many frames are compared at once. What has fewer is not looked at.
	stretchOf = 5

	// like is how much a stretch that has been coded, and lowered or raised in the middle,
	// is like what was said there, at least; one from elsewhere is not like it at all.
	like = 0.5
)

// follows reports whether a recording is what was said, from its beginning and without a
// gap or a repetition: runs of frames with silence between them, which go on where the one
// before ended, or with an encoder that began anew, which has its delay once more.
func follows(runs [][]int16, said []int16) bool {
	at, late := map[int]bool{0: true}, -1 // where the next run may begin
	for n, run := range runs {
		next := make(map[int]bool)
		for from := range at {
			for _, from := range []int{from, from - coderDelay}[:min(n+1, 2)] {
				if where, is := followed(run, said, from, late); is {
					next[from+len(run)] = true
					if late < 0 {
						late = where
					}
				}
			}
		}
		if at = next; len(at) == 0 {
			return false
		}
	}
	return true
}

// followed reports whether a run is what was said from some sample on, and by how many it
// is late if it is long enough to tell, else -1. If late is not -1, it must be that.
func followed(run, said []int16, from, late int) (int, bool) {
	const samples = stretchOf * audio.Samples
	for at := 0; at+samples <= len(run); at += samples {
		begin, end := from+at, from+at+samples
		if begin < 0 || begin >= len(said) {
			return late, false
		}
		least, most := 0, coded
		if late >= 0 {
			least, most = max(0, late-slack), late+slack
		}
		shift, alike := shifted(run[at:at+samples], said[begin:min(end, len(said))], least, most)
		if alike < like {
			return late, false
		}
		if late < 0 {
			late = shift
		}
	}
	return late, true
}

// shifted returns by how many samples got is later than want, within bounds, and how
// much it is the same then: 1 is all.
func shifted(got, want []int16, least, most int) (late int, alike float64) {
	for shift := least; shift <= most; shift++ {
		var both, one, other float64
		for i := shift; i < len(got) && i-shift < len(want); i++ {
			a, b := float64(got[i]), float64(want[i-shift])
			both, one, other = both+a*b, one+a*a, other+b*b
		}
		if r := both / math.Sqrt(max(1, one*other)); r > alike {
			late, alike = shift, r
		}
	}
	return late, alike
}
