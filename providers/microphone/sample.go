package microphone

import (
	"earshot"
	"earshot/internal/audio"
)

// foreign is how much of a frame's energy may be the agent's own sound for it to
// tell what somebody else sounds like.
const foreign = 0.5

// sample adds f to what the open utterance sounds like.
func (l *listener) sample(f *audio.Frame) {
	if l.sampler == nil || f.EchoRatio >= foreign {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sampler.Step(f)
}

// sampled returns what the open utterance sounds like so far; nil if nobody asks,
// or if there was too little of it.
func (l *listener) sampled() *earshot.Voice {
	if l.sampler == nil {
		return nil
	}
	v, ok := l.sampler.Voice(l.handle().String())
	if !ok {
		return nil
	}
	return &v
}
