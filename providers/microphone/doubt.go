package microphone

import (
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// While the agent speaks, it matters how soon a sound is known not to be a voice: the agent pauses
// for a voice, and people wait until it goes on. Two things are known before any recogniser is
// done. Both only shorten the pause: the sound is recognised all the same.
const (
	// vain is how long a voice without recognised words must be silent before the agent goes on: a
	// word is recognised within 100 ms of its end, and a shorter silence may be the t of "stop". If
	// the voice goes on, the agent pauses again. While an echo is heard, silence behind it cannot
	// be detected.
	vain = 200 * time.Millisecond

	// repeats is how similar a sound from a throat must be to itself one pitch period later: a
	// vowel reaches 0.8 and more, a hoarse voice or one beside an echo less; breath reaches 0.3 at
	// most, keys 0.6 now and then. Found with synthetic voices and sounds; a cough may be voiced,
	// and then causes a pause.
	repeats = 0.45

	// breath is how long an unpitched sound must last without a rest until it counts as a voice:
	// longer than a cough, a sneeze or a consonant. It may be a whisper, and the agent only lowers
	// its volume until then.
	breath = 30 // frames, 600 ms
	gasp   = 60 * time.Millisecond

	// belated is how long the agent waits for the recognition of a voice that is over: ten times as
	// long as a recogniser takes that is not far behind. If the words were for the agent, it is cut
	// when that is known.
	belated = 50 // frames, 1 s
)

// A doubt is what the room was told of the open voice, while it is heard over the agent's own
// sound and none of its words are known.
type doubt struct {
	told   earshot.Stage // began, lasts or over
	lasted int           // frames in which it has sounded without a rest
	waited int           // frames since it was over without known words
}

// A voicingDetector detects whether the sound contains a voice, whatever it says. It is for one
// goroutine.
type voicingDetector struct {
	tuner  acoustic.PitchDetector
	clear  time.Duration // how long no dominating echo was heard
	hummed uint64        // which of the last 64 frames had a pitch; the last is bit 0
}

// step adds f. A frame that is not loud enough, or known not to be a voice, counts as unpitched.
func (t *voicingDetector) step(f *audio.Frame, sought bool) {
	if t.clear += audio.Time * time.Duration(1+f.Lost); f.EchoRatio >= foreign {
		t.clear = 0
	}
	t.hummed <<= 1 + f.Lost
	if t.tuner.Repeats(f, sought) >= repeats {
		t.hummed |= 1
	}
}

// voice reports whether there was a voice in the last 160 ms.
func (t *voicingDetector) voice() bool { return t.hummed&0xff != 0 }

// begins returns what to tell the room about a lasting voice: nothing yet if it is heard over the
// agent's own sound and is only breath.
func (l *listener) begins(v *voice) {
	v.doubt = doubt{told: earshot.VoiceBegan}
	if !v.over || l.throat.voice() {
		l.believe(v)
	}
}

// believe tells the room that v is a voice.
func (l *listener) believe(v *voice) {
	v.doubt.told = earshot.VoiceLasts
	l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: sureVoice, Own: v.over})
}

// waits counts how long the recogniser takes for the voice that ended last, and after too long
// tells the room that nothing has come of it so far.
func (l *listener) waits() {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.late
	if v == nil {
		return
	}
	if v.doubt.waited++; v.doubt.waited == belated && v.number == l.voices {
		v.doubt.told = earshot.VoiceOver
		l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceOver, Confidence: sureOnset})
	}
}

// doubts tells the room about the open voice while no words are known: that nothing has come of it
// so far, that it is there again, or that it is a voice. At its end the room is told anyway.
func (l *listener) doubts(f *audio.Frame) {
	still := min(l.ear.Still(), l.throat.clear)
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.open
	if v == nil || !v.over || v.words != "" {
		return
	}
	d := &v.doubt
	switch {
	case still >= gasp:
		d.lasted = 0
	case f.Voiced:
		d.lasted++
	}
	switch {
	case d.told != earshot.VoiceOver && still >= vain:
		d.told = earshot.VoiceOver
		l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceOver, Confidence: sureOnset})
	case d.told == earshot.VoiceOver && l.ear.Still() == 0:
		d.told, d.lasted = earshot.VoiceBegan, 0
		l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: sureOnset, Own: f.Own})
	case d.told == earshot.VoiceBegan && l.ear.Still() == 0 && (l.throat.voice() || d.lasted >= breath):
		l.believe(v)
	}
}
