package main

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"

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
	return spell(ctx, spoken, h.more)
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
