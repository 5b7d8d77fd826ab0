package microphone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/voiceprint"
)

const (
	// spotting is for how many frames after the agent's own sound one listens
	// for phrases: half a second, since whoever says "stop" does not stop with
	// it.
	spotting = 25

	// mostSessions is how many utterances may be on their way through a
	// recogniser. A recogniser that is that far behind is of no help.
	mostSessions = 8

	// unchanged is how long words must have been the same for an answer to be
	// prepared to them, and silent how long it must have been still: what a
	// recogniser says at every step has then been said of the last sound, too.
	unchanged = 150 * time.Millisecond
	silent    = 100 * time.Millisecond

	// pauses is how long a voice is still that takes a breath or thinks: gaps between
	// words are shorter.
	pauses = 300 * time.Millisecond
)

// How sure the stages are. Half of all onsets are nothing; what lasts is a
// voice, or a good imitation; and a recogniser that does not say how sure it is
// of words that are still being said finds some in noise too.
const (
	sureOnset = 0.5
	sureVoice = 0.8
	sureWords = 0.6
)

// faintest is how sure a recogniser is at least of speech. What is less than the configuration asks
// for, and several words, is told as faint: who speaks to the agent then is to have a sign. Found with voices of
// espeak-ng and Festival; of noise it finds less, or what [noise] knows.
const faintest = 0.12

// A listener is one Run. The frames come from one goroutine, results from
// others.
type listener struct {
	*Provider
	ear    *hear.Ear // the frames'
	out    *queue
	throat voicingDetector
	spot   int  // frames for which one still listens for phrases
	here   bool // a voice is, or it is in doubt

	zero   time.Duration // how long there was no sound at all, at the last frame
	sounds bool          // there was some, at the last frame

	settled chan struct{} // of capacity 1: a session has ended

	analyser voiceprint.Analyser               // for all who ask for voices
	turns    *voiceprint.SpeakerChangeDetector // of the open utterance; nil if nobody asks
	tape     []audio.Frame                     // of it: all that its session was fed
	measured []voiceprint.Sound                // of the same frames

	mu       sync.Mutex
	voices   int    // that began
	open     *voice // nil between utterances
	late     *voice // the last that was heard over the agent, and is over, while its words are not known
	sessions []*voice
	sampler  *voiceprint.Extractor      // of the open utterance; nil if nobody asks for voices
	crowd    voiceprint.OverlapDetector // that is heard in it
}

// A voice is one utterance.
type voice struct {
	number    int
	began     time.Time
	lasted    time.Duration
	own       float64
	truncated bool
	voice     *earshot.Voice // nil if nobody can tell
	later     bool           // it began while another was listened to
	overlaps  bool           // somebody else is heard in it
	over      bool           // the agent's own sound, at some time
	lost      bool           // there will be no words
	session   Session        // nil if nobody listens
	words     earshot.Text   // as far as they were understood
	sure      float64        // of them
	ending    hear.Ending    // what they sound like
	patience  time.Duration  // how much silence ends it after them; 0 as long as there are none
	since     time.Duration  // how long they have not changed
	still     time.Duration  // how long it had been silent at the last frame
	fed       time.Duration  // what its session was given
	stable    bool           // and that the room was told so
	paused    bool           // the room was told that it pauses, and it still does
	doubt     doubt          // as long as there are no words
}

// listen takes frames until there are no more.
func (l *listener) listen(ctx context.Context) error {
	for f, err := range l.parts.Capture.Frames(ctx) {
		if err != nil {
			l.end(false)
			return err
		}
		l.hear(f)
	}
	l.end(false)
	return nil
}

// hear takes one frame.
func (l *listener) hear(f *audio.Frame) {
	l.ear.Wait(l.patience(f))
	edge := l.ear.Step(f)
	if edge != hear.None {
		l.here = edge == hear.Began || edge == hear.Lasts
	}
	l.throat.step(f, l.here && f.Voiced)
	l.listenFor(f)
	l.waits()
	switch edge {
	case hear.None:
		l.feed(f)
		l.doubts(f)
		l.settles()
	case hear.Began:
		l.begin(f)
	case hear.Lasts:
		l.lasts(f)
	case hear.Nothing:
		l.over(l.voices, f.At)
	case hear.End, hear.TooLong:
		l.feed(f)
		l.end(edge == hear.TooLong)
	}
	l.watch()
}

// patience returns how much silence ends what is being said, and notes in it what
// is known of f. Who asks for time over the agent's own sound is not waited for:
// it stops it.
func (l *listener) patience(f *audio.Frame) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.open
	if v == nil {
		return 0
	}
	v.over = v.over || f.Own
	v.since += audio.Time * time.Duration(1+f.Lost)
	if v.ending == hear.Waits && v.over {
		return 0
	}
	return v.patience
}

// settles notes how long it has been silent, and tells the room of words that have not
// changed for a while and are followed by silence: those that sound like all of it, since
// it may prepare an answer, and those after which the voice pauses and will go on.
func (l *listener) settles() {
	still := l.ear.Still()
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.open
	if v == nil {
		return
	}
	v.still = still
	v.paused = v.paused && still > 0
	switch {
	case v.words == "" || v.since < unchanged || still < silent:
	case v.ending <= hear.Unclear && !v.stable:
		v.stable = true
		l.emit(v.number, v.began, l.so(v))
	case v.ending > hear.Unclear && v.ending != hear.Waits && still >= pauses && !v.paused:
		v.paused = true
		s := l.so(v)
		s.Pause = true
		l.emit(v.number, v.began, s)
	}
}

// listenFor looks for phrases while the agent's own sound plays, while a voice
// goes on that began over it, since that makes it pause, and a little longer.
func (l *listener) listenFor(f *audio.Frame) {
	_, _, own := l.ear.Utterance()
	if f.Own || l.here && own > 0 {
		l.spot = spotting + 1
	}
	if l.spot == 0 || l.parts.Recogniser == nil {
		return
	}
	l.spot--
	l.parts.Recogniser.Spot(f)
}

// watch tells when the microphone gives nothing, not even noise, and when it
// does again.
func (l *listener) watch() {
	zero, deaf := l.ear.Zero(), l.cfg.Deaf.Duration()
	switch {
	case deaf > 0 && zero >= deaf && l.zero < deaf:
		l.fault("silent microphone", silentError{})
	case zero == 0 && !l.sounds:
		l.mend("silent microphone", "the microphone gives sound again")
	}
	l.zero, l.sounds = zero, zero == 0
}

// feed hands f to whoever listens to the open utterance.
func (l *listener) feed(f *audio.Frame) {
	if v := l.open; v != nil && v.session != nil {
		l.mu.Lock()
		v.fed += audio.Time
		l.mu.Unlock()
		v.session.Feed(f)
		l.sample(f)
	}
}

// begin says that a voice may have begun.
func (l *listener) begin(f *audio.Frame) {
	began, _, _ := l.ear.Utterance()
	l.mu.Lock()
	l.voices++
	l.mu.Unlock()
	l.emit(l.voices, began, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: sureOnset, Own: f.Own})
}

// lasts begins an utterance.
func (l *listener) lasts(f *audio.Frame) {
	began, _, own := l.ear.Utterance()
	v := &voice{number: l.voices, began: began, over: own > 0 || f.Own}
	l.begins(v)
	l.take(v)
	if !l.attend(v) {
		return
	}
	for f := range l.ear.PreRoll() {
		l.feed(f)
	}
}

// take makes v the open utterance.
func (l *listener) take(v *voice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = v
	l.forget()
	l.admit(v)
}

// admit makes v one that is on its way through a recogniser, if there is one for
// it.
func (l *listener) admit(v *voice) {
	v.lost = l.parts.Recogniser == nil || len(l.sessions) >= mostSessions
	if !v.lost {
		l.sessions = append(l.sessions, v)
	}
}

// attend has a recogniser listen to v, and reports whether there is one for it.
func (l *listener) attend(v *voice) bool {
	if !v.lost {
		v.session = l.parts.Recogniser.Begin(func(r Result) { l.result(v, r) })
	}
	return v.session != nil
}

// emit queues an event of that voice, or for 0 of none.
func (l *listener) emit(voice int, at time.Time, body earshot.Body) {
	l.add(l.out, item{l.event(at, body), voice})
}

// over says that nothing came of a voice. If another has begun, that one tells
// how it goes on.
func (l *listener) over(number int, at time.Time) {
	if number == l.voices {
		l.emit(number, at, earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1})
	}
}

// end ends the open utterance, if there is one.
func (l *listener) end(truncated bool) {
	l.lastTurn()
	_, lasted, own := l.ear.Utterance()
	l.mu.Lock()
	v := l.open
	l.open = nil
	if v == nil {
		l.mu.Unlock()
		return
	}
	v.lasted, v.own, v.truncated, v.voice = lasted, own, truncated, l.sampled()
	v.overlaps = l.sampler != nil && l.crowd.Overlap()
	if v.later {
		_, v.lasted, v.own = extent(l.tape)
	}
	if v.lost {
		l.over(v.number, v.began)
	} else if v.over && v.doubt.told == earshot.VoiceLasts {
		l.late = v
	}
	l.mu.Unlock()
	if v.session != nil {
		v.session.End()
	}
}

// result takes what was understood of v.
func (l *listener) result(v *voice, r Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.Final {
		l.partial(v, r)
		return
	}
	if !l.settle(v) {
		return
	}
	if r.Err != nil {
		l.lose(v, r.Err)
		return
	}
	l.mend("speech", "speech is understood again")
	faint, told := Understood(string(r.Text), r.Confidence, l.cfg.LeastConfidence)
	if !told {
		l.over(v.number, v.began)
		return
	}
	l.emit(v.number, v.began, earshot.Utterance{
		Text: r.Text, Faint: faint, Confidence: r.Confidence, Lasted: v.lasted, Own: v.own, Truncated: v.truncated, Overlaps: v.overlaps, Voice: v.voice,
	})
}

// lose notes that v will not be understood. It still speaks until it ends. That
// there is no recogniser says whoever runs it.
func (l *listener) lose(v *voice, err error) {
	if !errors.Is(err, stt.ErrAway) {
		l.fault("speech", fmt.Errorf("an utterance was not understood: %w", err))
	}
	if v.lost = true; v != l.open {
		l.over(v.number, v.began)
	}
}

// partial takes what was understood of v so far, if that is news.
func (l *listener) partial(v *voice, r Result) {
	if v != l.open || r.Text == v.words || noise(string(r.Text), r.Confidence) {
		return
	}
	if v.doubt.told != earshot.VoiceLasts {
		l.believe(v)
	}
	about := l.talk()
	v.ending = hear.Judge(string(r.Text), about)
	v.patience = l.cfg.Ear.Patience(string(r.Text), string(v.words), v.silent(r), about)
	v.words, v.sure, v.since, v.stable = r.Text, cmp.Or(r.Confidence, sureWords), 0, false
	l.emit(v.number, v.began, l.so(v))
}

// silent returns how long v had been silent in what had been heard when r became so,
// however late the recogniser says it.
func (v *voice) silent(r Result) time.Duration {
	if r.Heard == 0 {
		return v.still
	}
	return max(0, v.still-max(0, v.fed-r.Heard))
}

// so returns what v, which is open, has said so far.
func (l *listener) so(v *voice) earshot.Speech {
	return earshot.Speech{Stage: earshot.VoiceWords, Words: v.words, Confidence: v.sure, Own: v.over, Stable: v.stable, Voice: l.sampled()}
}

// talk returns what is known of the talk.
func (l *listener) talk() hear.Talk {
	if l.parts.Talk == nil {
		return hear.Talk{}
	}
	return l.parts.Talk()
}

// settle takes v out of the sessions, and reports false if it was out.
func (l *listener) settle(v *voice) bool {
	if l.late == v {
		l.late = nil
	}
	for i, s := range l.sessions {
		if s == v {
			l.sessions = append(l.sessions[:i], l.sessions[i+1:]...)
			select {
			case l.settled <- struct{}{}:
			default:
			}
			return true
		}
	}
	return false
}

// await waits for the results of what was said, until ctx ends.
func (l *listener) await(ctx context.Context) {
	for ctx.Err() == nil && l.waiting() {
		select {
		case <-l.settled:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	left := l.sessions
	l.sessions = nil
	l.mu.Unlock()
	for _, v := range left {
		v.session.Cancel()
	}
}

func (l *listener) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sessions) > 0
}

// silentError is a microphone that gives exact zeros, as no live one does.
type silentError struct{}

// Error says what is wrong.
func (silentError) Error() string { return "the microphone gives no sound at all, not even noise" }

// Cure says how to mend it.
func (silentError) Cure() string {
	return "unmute it: its own switch, or the sound settings; or choose another under providers.microphone.device"
}
