package microphone

import (
	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

const (
	// foreign is the largest share of the agent's own sound in a frame's energy for which the frame
	// is still a sample of another voice.
	foreign = 0.5

	// another is how likely a change of voice must be for a split; it splits one voice in a hundred
	// wrongly: see make bench, figure voices.
	another = 0.87

	// sampleOf is how many frames are enough for a sample of a voice that has already ended: 5 s.
	sampleOf = 250
)

// sample adds f, which the open utterance was fed, to its voice sample. If somebody else has begun
// to speak, the utterance is split: see turn.
func (l *listener) sample(f *audio.Frame) {
	if l.sampler == nil {
		return
	}
	l.tape = append(l.tape, *f)
	s := *l.analyser.Step(f)
	if f.EchoRatio >= foreign {
		s = voiceprint.Sound{} // it belongs to the agent's voice
	}
	l.measured = append(l.measured, s)
	l.mu.Lock()
	l.study(f, &s)
	l.mu.Unlock()
	if t, changed := l.turns.Take(alone(f, &s)); changed {
		l.turn(t)
	}
}

// alone returns s if it does not contain the agent's voice.
func alone(f *audio.Frame, s *voiceprint.Sound) *voiceprint.Sound {
	if f.Own {
		return nil
	}
	return s
}

// lastTurn splits the open utterance, which ends, if only now it can be told that somebody else
// had begun to speak.
func (l *listener) lastTurn() {
	if l.open == nil || l.open.session == nil || l.turns == nil {
		return
	}
	if t, changed := l.turns.Last(); changed {
		l.turn(t)
	}
}

// study adds f, measured as s, to the voice sample, and to the detection of another speaker who is
// not the agent.
func (l *listener) study(f *audio.Frame, s *voiceprint.Sound) {
	l.sampler.Take(s)
	if !f.Own {
		l.crowd.Take(s)
	}
}

// sampled returns the voice sample of the open utterance so far; nil if nobody asks, or if there
// was too little sound.
func (l *listener) sampled() *earshot.Voice {
	if l.sampler == nil {
		return nil
	}
	v, ok := l.sampler.Voice(l.handle().String())
	if !ok {
		return nil
	}
	v.Overlapped = l.crowd.Overlap()
	return &v
}

// forget resets the samples for the next utterance.
func (l *listener) forget() {
	if l.sampler != nil {
		l.analyser = voiceprint.Analyser{}
		l.sampler.Reset()
		l.crowd.Reset()
		l.turns.Reset()
		l.tape, l.measured = l.tape[:0], l.measured[:0]
	}
}

// wipe overwrites the kept sound, which nobody needs any more.
func (l *listener) wipe() {
	l.ear.Wipe()
	l.gate, l.bargeIn = phraseGate{}, bargeInDetector{}
	clear(l.tape[:cap(l.tape)])
	clear(l.measured[:cap(l.measured)])
}
