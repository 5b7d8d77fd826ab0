package main

import (
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
)

// TestFollows: a recording in which something is missing, or twice, is not what was said.
func TestFollows(t *testing.T) {
	h := newHiss()
	for range 12 { // three seconds
		h.more()
	}
	said := h.sound()
	late := append(make([]int16, 120), said...) // as it comes out of a decoder
	cut := func(from, to int) []int16 { return slices.Clone(late[from:to]) }
	const frame = audio.Samples
	soft := cut(0, 30*frame)
	for i := 12 * frame; i < len(soft); i++ {
		soft[i] /= 4
	}
	for _, tt := range []struct {
		name string
		runs [][]int16
		want bool
	}{
		{"nothing", nil, true},
		{"all at once", [][]int16{cut(0, 100*frame)}, true},
		{"lowered", [][]int16{soft}, true},
		{"a frame came late", [][]int16{cut(0, 31*frame), cut(31*frame, 60*frame)}, true},
		{"paused", [][]int16{cut(0, 31*frame), cut(31*frame-coderDelay, 60*frame)}, true},
		{"paused twice", [][]int16{cut(0, 3*frame), cut(3*frame-coderDelay, 40*frame-coderDelay), cut(40*frame-2*coderDelay, 60*frame)}, true},
		{"a gap", [][]int16{append(cut(0, 30*frame), cut(31*frame, 60*frame)...)}, false},
		{"a gap after a pause", [][]int16{cut(0, 30*frame), cut(31*frame, 60*frame)}, false},
		{"a repetition", [][]int16{append(cut(0, 30*frame), cut(29*frame, 60*frame)...)}, false},
		{"a repetition after a pause", [][]int16{cut(0, 30*frame), cut(29*frame, 60*frame)}, false},
		{"not from the beginning", [][]int16{cut(10*frame, 60*frame)}, false},
		{"more than was said", [][]int16{append(cut(0, 100*frame), cut(0, 100*frame)...)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := follows(tt.runs, said); got != tt.want {
				t.Errorf("it follows: %v", got)
			}
		})
	}
}

// TestReacted: one character for 20 ms of what was heard: # is sound, - the same lowered, .
// silence; and under it when the voice is told something.
func TestReacted(t *testing.T) {
	h := newHiss()
	for range 12 {
		h.more()
	}
	said := h.sound()
	controls := map[rune]earshot.Control{'d': earshot.Duck, 'p': earshot.Pause, 'r': earshot.Resume, 'c': earshot.Cut}
	for _, tt := range []struct {
		name, heard, told string
		want              yielded // in frames
	}{
		{"silent at once",
			"##################...",
			"               d p   c", yielded{told: 15, stopped: 17, duck: 18, silent: 18, cut: true}},
		{"lowered before",
			"##################----...",
			"               d     p   c", yielded{told: 15, stopped: 21, duck: 18, silent: 22, cut: true}},
		{"a frame is late",
			"##########.########...",
			"               d p    r", yielded{told: 15, stopped: 17, duck: 19, silent: 19, missing: 1}},
		{"another speech",
			"##################...###",
			"               d  c", yielded{told: 15, stopped: 18, duck: 18, silent: 18, cut: true}},
		{"never goes on",
			"##################...",
			"               d  p", yielded{told: 15, stopped: 18, duck: 18, silent: 18, held: true}},
		{"nothing", "####################", "", yielded{told: -1, stopped: -1, duck: -1, silent: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Unix(1000, 0)
			at := func(i int) time.Time { return began.Add(time.Duration(i) * audio.Time) }
			var r recording
			sounds := 0
			for i, c := range tt.heard {
				pcm := make([]int16, audio.Samples)
				if c != '.' {
					copy(pcm, said[sounds*audio.Samples:])
					sounds++
				}
				for n := range pcm {
					if c == '-' {
						pcm[n] /= 4
					}
				}
				r.frames, r.pcm = append(r.frames, framed{at(i), c == '.'}), append(r.pcm, pcm...)
			}
			var told []controlled
			for i, c := range tt.told {
				if what, is := controls[c]; is {
					told = append(told, controlled{at(i), what})
				}
			}
			if got := r.reacted(began, told, said); got != tt.want.inFrames() {
				t.Errorf("%+v, want %+v", got, tt.want.inFrames())
			}
		})
	}
}

// inFrames returns y, of which the times are in frames.
func (y yielded) inFrames() yielded {
	for _, f := range []*float64{&y.told, &y.stopped, &y.duck, &y.silent} {
		if *f >= 0 {
			*f *= micros(audio.Time) / 1000
		}
	}
	return y
}
