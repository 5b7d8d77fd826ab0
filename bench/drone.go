package main

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

// A drone is a voice that takes no time and never pauses: every word is a
// quarter of a second of the same tone, so that in a recording each silence is
// one that was asked for.
type drone struct{}

const (
	wordSamples = audio.Rate / 4
	strength    = 8000 // of its square wave
)

// droned is one word: 500 Hz.
var droned = func() []int16 {
	pcm := make([]int16, wordSamples)
	for i := range pcm {
		pcm[i] = strength
		if i/16%2 == 1 {
			pcm[i] = -strength
		}
	}
	return pcm
}()

// Say implements [loudspeaker.Voice].
func (drone) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return spell(ctx, spoken, func() []int16 { return droned })
}

// spell yields a sound for each word, all of which are as long.
func spell(ctx context.Context, spoken string, next func() []int16) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		at, sample := 0, 0
		for word := range strings.FieldsSeq(spoken) {
			if ctx.Err() != nil {
				yield(tts.Chunk{}, context.Cause(ctx))
				return
			}
			at += strings.Index(spoken[at:], word)
			if !yield(tts.Chunk{PCM: next(), Words: []tts.Word{{Byte: at, Sample: sample}}}, nil) {
				return
			}
			at, sample = at+len(word), sample+wordSamples
		}
	}
}

// A deck is a device that plays as fast as a real one, and notes when each speech began.
type deck struct {
	mu   sync.Mutex
	came []time.Time // the first sample of each speech
	busy sync.WaitGroup
}

// begins notes that a speech does.
func (d *deck) begins() {
	at := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.came = append(d.came, at)
}

// began returns when the speeches did.
func (d *deck) began() []time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.came)
}

// open implements [loudspeaker.Open].
func (d *deck) open(context.Context, string, float64) (loudspeaker.Player, error) { return d, nil }

// Lost implements [loudspeaker.Player].
func (d *deck) Lost() <-chan struct{} { return nil }

// Err implements [loudspeaker.Player].
func (d *deck) Err() error { return nil }

// Close implements [loudspeaker.Player].
func (d *deck) Close() { d.busy.Wait() }

// Play implements [loudspeaker.Player].
func (d *deck) Play(_ int, moved func(sound.Position)) (loudspeaker.Playing, error) {
	r := &running{of: d, room: make(chan struct{}, 1)}
	d.busy.Go(func() { r.run(moved) })
	return r, nil
}

// A running is one speech on a deck.
type running struct {
	of   *deck
	room chan struct{} // of capacity 1: there may be room for more

	mu            sync.Mutex
	given, played int64
	still         bool
	over, all     bool
}

// run plays, until all is played or it is cut.
func (r *running) run(moved func(sound.Position)) {
	next := time.NewTicker(audio.Time)
	defer next.Stop()
	for {
		<-next.C
		r.mu.Lock()
		if !r.still && !r.over {
			r.played = min(r.given, r.played+audio.Samples)
		}
		at := sound.Position{Samples: r.played, End: r.over || r.all && r.played == r.given}
		r.over = at.End
		r.mu.Unlock()
		moved(at)
		select {
		case r.room <- struct{}{}:
		default:
		}
		if at.End {
			return
		}
	}
}

// ahead is how much a device takes before it is played, in samples: 200 ms.
const ahead = audio.Rate / 5

// Write implements [loudspeaker.Playing].
func (r *running) Write(ctx context.Context, pcm []int16) error {
	for {
		r.mu.Lock()
		switch {
		case r.over:
			r.mu.Unlock()
			return sound.ErrOver
		case r.given-r.played < ahead:
			first := r.given == 0
			r.given += int64(len(pcm))
			r.mu.Unlock()
			if first {
				r.of.begins()
			}
			return nil
		}
		r.mu.Unlock()
		select {
		case <-r.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Do implements [loudspeaker.Playing].
func (r *running) Do(c earshot.Control) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch c {
	case earshot.Cut:
		r.over = true
	case earshot.Pause:
		r.still = true
	case earshot.Resume, earshot.Duck:
		r.still = false
	}
}

// Finish implements [loudspeaker.Playing].
func (r *running) Finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = true
}
