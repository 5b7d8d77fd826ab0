package daemon

import (
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
	// voicedFrom is the level in dB from which a frame of made speech has a voice in it:
	// between its words there is nothing at all.
	voicedFrom = -45.0

	// ownEnough is how much of the agent's own voice is taken in: one and the same
	// voice says everything, so more would teach nothing.
	ownEnough = 30 * time.Second
)

// A learnedVoice voice tells what it sounds like, so that it is known again when it comes
// back, or when somebody plays it.
type learnedVoice struct {
	loudspeaker.Fickle
	learn func(*earshot.Voice) // called from one goroutine at a time

	mu    sync.Mutex
	heard time.Duration
}

// Say implements [loudspeaker.Voice].
func (m *learnedVoice) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	if m.known() {
		return m.Fickle.Say(ctx, spoken)
	}
	return func(yield func(tts.Chunk, error) bool) {
		r := voiceSample{ear: voiceprint.New()}
		defer func() { m.see(&r) }()
		for c, err := range m.Fickle.Say(ctx, spoken) {
			r.take(c.PCM)
			if !yield(c, err) {
				return
			}
		}
	}
}

// rehearsalText is said to nobody: some seconds in which most sounds of a language are.
const rehearsalText = "The quick brown fox jumps over the lazy dog, while she sells sea shells by the shore, and nobody hears a word of that."

// rehearse learns what the voice sounds like before it has said anything, so that nobody
// comes to be known by a recording of it. A voice that breaks off is learnt when it speaks.
func (m *learnedVoice) rehearse(ctx context.Context) error {
	for {
		ready, changed := m.Ready()
		if ready {
			for range m.Say(ctx, rehearsalText) { // which is all that is wanted of it
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

// known reports whether enough of it was taken in.
func (m *learnedVoice) known() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard >= ownEnough
}

// see learns from what was said.
func (m *learnedVoice) see(r *voiceSample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := r.ear.Voice("synthesis"); ok {
		m.heard += v.Heard
		m.learn(&v)
	}
}

// A voiceSample is what one text sounds like.
type voiceSample struct {
	ear    *voiceprint.Extractor
	frame  audio.Frame
	filled int
}

// take hears sound.
func (r *voiceSample) take(pcm []int16) {
	for len(pcm) > 0 {
		n := copy(r.frame.PCM[r.filled:], pcm)
		pcm, r.filled = pcm[n:], r.filled+n
		if r.filled == len(r.frame.PCM) {
			r.frame.Voiced = audio.Level(r.frame.PCM[:]) > voicedFrom
			r.ear.Step(&r.frame)
			r.filled = 0
		}
	}
}
