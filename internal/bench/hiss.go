package main

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/models/tts"
)

// A hiss is a voice that takes no time, as even as a tone, of which no two stretches
// are alike also when they have been coded: noise of the band in which people speak. A
// word is a quarter of a second.
type hiss struct {
	dice *rand.Rand
	soft [2]float64 // of the filter

	mu   sync.Mutex
	made []int16
}

func newHiss() *hiss { return &hiss{dice: rand.New(rand.NewPCG(1, 2))} }

// Say implements [playback.Voice].
func (h *hiss) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		at, sample := 0, 0
		for word := range strings.FieldsSeq(spoken) {
			if ctx.Err() != nil {
				yield(tts.Chunk{}, context.Cause(ctx))
				return
			}
			at += strings.Index(spoken[at:], word)
			if !yield(tts.Chunk{PCM: h.more(), Words: []tts.Word{{Byte: at, Sample: sample}}}, nil) {
				return
			}
			at, sample = at+len(word), sample+wordSamples
		}
	}
}

// more makes the sound of a word, below about 3 kHz.
func (h *hiss) more() []int16 {
	const (
		strong = 5000 // of its noise, before the filter
		keep   = 0.7  // of a sample, by each of two filters: above 3 kHz there is little
	)
	pcm := make([]int16, wordSamples)
	for i := range pcm {
		h.soft[0] += keep * (strong*h.dice.NormFloat64() - h.soft[0])
		h.soft[1] += keep * (h.soft[0] - h.soft[1])
		pcm[i] = int16(max(-32000, min(h.soft[1], 32000)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made = append(h.made, pcm...)
	return pcm
}

// forget has it begin anew.
func (h *hiss) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made = nil
}

// sound returns what it has made.
func (h *hiss) sound() []int16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.made)
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
