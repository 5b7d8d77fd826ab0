// Package playbacktest is what the tests of outlets that speak have in common: a voice
// of which every stretch of sound says where it belongs, who listens to what a speech
// reports, and all that one may be told meanwhile.
package playbacktest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/soundtest"
	"earshot/models/tts"
)

// PerWord is how long a [Cipher] takes for a word, in samples: 100 ms.
const PerWord = audio.Rate / 10

// A Cipher is a voice of which every stretch of sound says where it belongs; see
// [soundtest.Cipher]. Its zero value is one that takes no time.
type Cipher struct {
	Takes func() time.Duration // before each clause; nil is at once

	made int
}

// Say implements [playback.Voice].
func (v *Cipher) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		if v.Takes != nil {
			select {
			case <-time.After(v.Takes()):
			case <-ctx.Done():
				yield(tts.Chunk{}, context.Cause(ctx))
				return
			}
		}
		at := 0
		for i, word := range strings.Fields(spoken) {
			at += strings.Index(spoken[at:], word)
			chunk := tts.Chunk{PCM: make([]int16, PerWord), Words: []tts.Word{{Byte: at, Sample: i * PerWord}}}
			at += len(word)
			soundtest.Cipher(chunk.PCM, v.made)
			v.made += PerWord
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// Clauses returns texts as clauses.
func Clauses(texts ...string) (all []earshot.Clause) {
	for n, text := range texts {
		all = append(all, earshot.Clause{N: n, Text: earshot.Text(text)})
	}
	return all
}

// Text returns what was heard of what was said.
func Text(said []earshot.Clause, h earshot.Heard) string {
	var b strings.Builder
	for _, c := range said {
		switch {
		case c.N < h.Clause:
			b.WriteString(string(c.Text))
		case c.N == h.Clause:
			b.WriteString(string(c.Text[:h.Byte]))
		}
	}
	return b.String()
}

// A Listener keeps what a speech reports. Its methods may be called from any goroutine.
type Listener struct {
	mu    sync.Mutex
	began time.Time
	heard []earshot.Heard
	times []time.Duration
}

// Listen returns a listener to a speech that begins now.
func Listen() *Listener { return &Listener{began: time.Now()} }

// Hear takes a report.
func (l *Listener) Hear(h earshot.Heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, h)
	l.times = append(l.times, time.Since(l.began))
}

// All returns all that was reported.
func (l *Listener) All() []earshot.Heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

// Last returns the last report, with how long after the beginning it came.
func (l *Listener) Last() (earshot.Heard, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.heard) == 0 {
		return earshot.Heard{}, 0
	}
	return l.heard[len(l.heard)-1], l.times[len(l.times)-1]
}

// At returns the last report.
func (l *Listener) At() earshot.Heard {
	at, _ := l.Last()
	return at
}

// Ends returns how many reports were the last.
func (l *Listener) Ends() (n int) {
	for _, h := range l.All() {
		if h.End {
			n++
		}
	}
	return n
}

// A Disturbance is what a speech is told, and how long after what was told before.
type Disturbance struct {
	After time.Duration
	What  earshot.Control
}

// Disturbances draws any, of which the last lets the speech go on or cuts it.
func Disturbances(t *rapid.T) (all []Disturbance) {
	after := rapid.IntRange(0, 300_000)
	controls := rapid.SampledFrom([]earshot.Control{earshot.Pause, earshot.Pause, earshot.Resume, earshot.Duck})
	for range rapid.IntRange(0, 12).Draw(t, "controls") {
		all = append(all, Disturbance{time.Duration(after.Draw(t, "µs")) * time.Microsecond, controls.Draw(t, "control")})
	}
	last := rapid.SampledFrom([]earshot.Control{earshot.Resume, earshot.Duck, earshot.Cut}).Draw(t, "last")
	return append(all, Disturbance{time.Duration(after.Draw(t, "µs")) * time.Microsecond, last})
}

// Compare says what is wrong with a recording of a cipher that has come so far, as
// [soundtest.Follow] found, if so many words of so many were reported as heard.
func Compare(least, most int, follows bool, words, of int, cut bool) string {
	low, high := (least+PerWord/2)/PerWord, (most+PerWord/2)/PerWord
	switch {
	case !follows:
		return "the recording is not the speech"
	case words < low || words > high:
		return fmt.Sprintf("%d to %d samples are in the recording, and %d words were heard, want %d to %d", least, most, words, low, high)
	case !cut && words != of:
		return fmt.Sprintf("nobody cut it, and %d words of %d were heard", words, of)
	}
	return ""
}
