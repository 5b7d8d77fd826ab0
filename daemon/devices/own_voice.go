package devices

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/tts"
	"earshot/models/voiceprint"
	"earshot/outlets/loudspeaker"
)

const (
	// voicedFrom is the level in dB from which on a frame of synthetic speech counts as voiced:
	// between its words there is complete silence.
	voicedFrom = -45.0

	// ownEnough is how much of the agent's own voice is learned: it is always the same voice, so
	// more would add nothing.
	ownEnough = 30 * time.Second
)

// A LearnedVoice is a voice that reports how it sounds, so that it is recognised when it comes
// back through the microphone, or when somebody plays it.
type LearnedVoice struct {
	loudspeaker.Fickle
	learn func(*earshot.Voice) // called from one goroutine at a time

	mu    sync.Mutex
	heard time.Duration
}

// Say implements [loudspeaker.Voice].
func (m *LearnedVoice) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	if m.known() {
		return m.Fickle.Say(ctx, spoken)
	}
	return func(yield func(tts.Chunk, error) bool) {
		r := voiceSample{ear: voiceprint.New()}
		defer func() { m.see(&r) }()
		for c, err := range m.Fickle.Say(ctx, spoken) {
			r.take(c)
			if !yield(c, err) {
				return
			}
		}
	}
}

// rehearsalText is synthesised and not played: some seconds with most sounds of a language.
const rehearsalText = "The quick brown fox jumps over the lazy dog, while she sells sea shells by the shore, and nobody hears a word of that."

// Rehearse learns how the voice sounds before it has said anything, so that a recording of it
// makes nobody known. A voice that breaks off is learned when it speaks.
func (m *LearnedVoice) Rehearse(ctx context.Context) error {
	for {
		ready, changed := m.Ready()
		if ready {
			for range m.Say(ctx, rehearsalText) { // only what see learns from it matters
			}
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *LearnedVoice) known() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard >= ownEnough
}

// see learns from what was said.
func (m *LearnedVoice) see(r *voiceSample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := r.ear.Voice("synthesis"); ok {
		m.heard += v.Heard
		m.learn(&v)
	}
}

// A voiceSample is how one text sounds.
type voiceSample struct {
	ear    *voiceprint.Extractor
	frame  audio.Frame
	filled int

	rate *audio.Resampler // from that of the voice
	from int
	pcm  []int16
}

func (r *voiceSample) take(c tts.Chunk) {
	if from := cmp.Or(c.Rate, audio.Rate); r.from != from {
		r.rate, r.from = audio.NewResampler(from, audio.Rate), from
	}
	r.pcm = r.rate.Append(r.pcm[:0], c.PCM)
	for pcm := r.pcm; len(pcm) > 0; {
		n := copy(r.frame.PCM[r.filled:], pcm)
		pcm, r.filled = pcm[n:], r.filled+n
		if r.filled == len(r.frame.PCM) {
			r.frame.Voiced = audio.Level(r.frame.PCM[:]) > voicedFrom
			r.ear.Step(&r.frame)
			r.filled = 0
		}
	}
}
