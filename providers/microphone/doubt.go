package microphone

import (
	"math"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/hear"
	"earshot/models/voicing"
)

// While the agent speaks, it matters how soon a sound is known not to be a voice: the agent pauses
// for a voice, and people wait until it goes on. Before any recogniser is done it is known whether
// the sound is a voice, how loud it is, and whether it is over. That only prevents or shortens the
// pause: the sound is recognised all the same, and words stop the agent.
const (
	// vain is how long a voice without recognised words must be silent before the agent goes on: a
	// word is recognised within 100 ms of its end, and a shorter silence may be the t of "stop". If
	// the voice goes on, the room is told again. While an echo is heard, silence behind it cannot
	// be detected.
	vain = 200 * time.Millisecond

	// belated is how long the agent waits for the recognition of a voice that is over: ten times as
	// long as a recogniser takes that is not far behind. If the words were for the agent, it is cut
	// when that is known.
	belated = 50 // frames, 1 s

	// softer is how much softer than whoever was understood last a voice may be, in dB, to pause
	// the agent: three times as far away. A television or the next room only lowers its voice,
	// until there are words to it. The first syllable of who is near comes within this of the rest.
	softer = 10

	// lately is the part of a frame in how loud it has been lately, of some 100 ms.
	lately = 0.2
)

// A doubt is what the room was told of the open voice, while it is heard over the agent's own
// sound and none of its words are known.
type doubt struct {
	told   earshot.Stage // began, lasts or over
	waited int           // frames since it was over without known words
}

// A bargeInDetector tells whether what is heard over the agent's own sound is a voice, whatever it
// says, and how loud it is. It is for one goroutine.
type bargeInDetector struct {
	voicing.Detector
	clear time.Duration // how long no dominating echo was heard
	now   float64       // how loud it has been lately, as power
	peak  float64       // the most of that since the sound began
}

// step adds f, of which the ear said edge; here says that a voice is heard or in doubt.
func (b *bargeInDetector) step(f *audio.Frame, edge hear.Edge, here bool) {
	if b.clear += audio.Time * time.Duration(1+f.Lost); f.EchoRatio >= foreign {
		b.clear = 0
	}
	b.now += lately * (power(audio.Level(f.PCM[:])) - b.now)
	if b.peak = max(b.peak, b.now); edge == hear.Began {
		b.Begin()
		b.peak = b.now
	}
	if f.Own || here {
		b.Step(f, here && f.Voiced)
	}
}

// begins tells the room about a lasting voice: nothing yet if it is heard over the agent's own sound
// and may be something else.
func (l *listener) begins(v *voice) {
	v.doubt = doubt{told: earshot.VoiceBegan}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !v.over || l.voice() {
		l.believe(v)
	}
}

// voice reports whether the sound is a voice, as near as whoever was understood last. l.mu must be
// held.
func (l *listener) voice() bool { return l.bargeIn.Voice() && l.bargeIn.peak >= l.near*power(-softer) }

// power returns that of a level in dB.
func power(level float64) float64 { return math.Pow(10, level/10) }

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
	still := min(l.ear.Still(), l.bargeIn.clear)
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.open
	if v == nil || !v.over || v.words != "" {
		return
	}
	d := &v.doubt
	switch {
	case d.told != earshot.VoiceOver && still >= vain:
		d.told = earshot.VoiceOver
		l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceOver, Confidence: sureOnset})
	case d.told == earshot.VoiceOver && l.ear.Still() == 0:
		d.told = earshot.VoiceBegan
		l.bargeIn.Begin()
		l.emit(v.number, v.began, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: sureOnset, Own: f.Own})
	case d.told == earshot.VoiceBegan && l.ear.Still() == 0 && l.voice():
		l.believe(v)
	}
}
