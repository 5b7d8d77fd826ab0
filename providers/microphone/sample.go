package microphone

import (
	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

const (
	// foreign is how much of a frame's energy may be the agent's own sound for it
	// to tell what somebody else sounds like.
	foreign = 0.5

	// another is how likely it must be that what follows is another voice, so that one
	// voice in a hundred is split: see make bench, figure voices.
	another = 0.87

	// sampleOf is how many frames are enough to tell what a voice sounds like that
	// has already ended: 5 s.
	sampleOf = 250
)

// sample takes f, which the open utterance was fed, into what it sounds like. If
// somebody else has begun to speak, the utterance is split: see turn.
func (l *listener) sample(f *audio.Frame) {
	if l.sampler == nil {
		return
	}
	l.tape = append(l.tape, *f)
	s := *l.analyser.Step(f)
	if f.EchoRatio >= foreign {
		s = voiceprint.Sound{} // it tells what the agent sounds like
	}
	l.measured = append(l.measured, s)
	l.mu.Lock()
	l.study(f, &s)
	l.mu.Unlock()
	if t, changed := l.turns.Take(alone(f, &s)); changed {
		l.turn(t)
	}
}

// alone returns s if the agent is not heard in it, which would be another voice.
func alone(f *audio.Frame, s *voiceprint.Sound) *voiceprint.Sound {
	if f.Own {
		return nil
	}
	return s
}

// lastTurn splits the open utterance, which ends, if it can be told only now that
// somebody else had begun to speak.
func (l *listener) lastTurn() {
	if l.open == nil || l.open.session == nil || l.turns == nil {
		return
	}
	if t, changed := l.turns.Last(); changed {
		l.turn(t)
	}
}

// study adds f, of which s was measured, to what somebody sounds like, and to whether
// somebody else is heard at the same time, who is not the agent.
func (l *listener) study(f *audio.Frame, s *voiceprint.Sound) {
	l.sampler.Take(s)
	if !f.Own {
		l.crowd.Take(s)
	}
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
	v.Overlapped = l.crowd.Overlap()
	return &v
}

// forget makes room for what the next utterance sounds like.
func (l *listener) forget() {
	if l.sampler != nil {
		l.analyser = voiceprint.Analyser{}
		l.sampler.Reset()
		l.crowd.Reset()
		l.turns.Reset()
		l.tape, l.measured = l.tape[:0], l.measured[:0]
	}
}

// wipe overwrites what was heard and is kept: nobody asks for it any more.
func (l *listener) wipe() {
	l.ear.Wipe()
	clear(l.tape[:cap(l.tape)])
	clear(l.measured[:cap(l.measured)])
}
