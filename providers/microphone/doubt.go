package microphone

import (
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// Over the agent's own sound it matters how soon one knows that something is no voice:
// it pauses for one, and people wait until it goes on. Two things are known before any
// recogniser is done, and both only hold the agent back for less long: what is heard is
// listened to and understood all the same.
const (
	// vain is how long a voice must be silent of which no word was understood for the
	// agent to go on: a word is understood within 100 ms of its end, and what is silent
	// for less may be the t of "stop". If the voice goes on, it pauses again. While an
	// echo is heard nobody can tell whether there is silence behind it.
	vain = 200 * time.Millisecond

	// repeats is how much like itself a sound must be, a pitch later, that comes from a
	// throat: a vowel is by 0.8 and more, of a hoarse voice or beside an echo by less;
	// breath is by 0.3 at most, keys by 0.6 now and then. Found with synthetic voices and
	// sounds; a cough may have a voice in it, and then pauses.
	repeats = 0.45

	// breath is how long it takes until what has no pitch is taken for a voice, without
	// a rest: longer than a cough, a sneeze or a consonant. It may be somebody who
	// whispers, and is lowered for until then.
	breath = 30 // frames, 600 ms
	gasp   = 60 * time.Millisecond

	// belated is how long the agent waits for what a recogniser makes of a voice that is
	// over: ten times as long as one takes that is not far behind. If it was for the
	// agent, it is cut when that is known.
	belated = 50 // frames, 1 s
)

// A doubt is what the room was told of the open voice, while it is heard over the
// agent's own sound and no words are known of it.
type doubt struct {
	told   earshot.Stage // began, lasts or over
	lasted int           // frames in which it has sounded without a rest, since it began
	waited int           // frames since it was over, while its words are not known
}

// A voicingDetector notices whether a voice is in what is heard, whatever it says. It is for one
// goroutine.
type voicingDetector struct {
	tuner  acoustic.PitchDetector
	clear  time.Duration // for how long no echo was heard that is louder than the rest
	hummed uint64        // whether the last 64 frames had a pitch; the last is bit 0
}

// step takes in f; what is not loud enough, or known to be none, is sought in vain.
func (t *voicingDetector) step(f *audio.Frame, sought bool) {
	if t.clear += audio.Time * time.Duration(1+f.Lost); f.EchoRatio >= foreign {
		t.clear = 0
	}
	t.hummed <<= 1 + f.Lost
	if t.tuner.Repeats(f, sought) >= repeats {
		t.hummed |= 1
	}
}

// voice reports whether there was one in the last 160 ms.
func (t *voicingDetector) voice() bool { return t.hummed&0xff != 0 }

// begins is what the room is told of a voice that lasts: nothing yet if it is heard
// over the agent's own sound and is nothing but breath.
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

// waits counts how long a recogniser takes for the voice that ended last, and tells the
// room that nothing has come of it so far when that is too long.
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

// doubts tells the room what becomes of the open voice, of which no words are known: that
// nothing has come of it so far, that it is there again, that it is one. At its end
// the room is told anyway.
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
