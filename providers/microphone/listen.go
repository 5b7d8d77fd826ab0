package microphone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/mailbox"
	"earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/voiceprint"
)

const (
	// spotting is how many frames after the agent's own sound phrases are still listened for: half
	// a second, since a person who says "stop" does not stop together with it.
	spotting = 25

	// mostSessions is how many utterances may be in a recogniser. A recogniser that is further
	// behind is of no help.
	mostSessions = 8

	// unchanged is how long words must have been the same before an answer is prepared, and silent
	// how long it must have been silent: by then even a recogniser that reports at every step has
	// included the last sound.
	unchanged = 150 * time.Millisecond
	silent    = 100 * time.Millisecond

	// pauses is how long a voice is silent for a breath or a thought: gaps between words are
	// shorter.
	pauses = 300 * time.Millisecond
)

// The confidence of the stages. Half of all onsets are nothing; what lasts is a voice, or a good
// imitation; and a recogniser that gives no confidence for interim words finds some in noise too.
const (
	sureOnset = 0.5
	sureVoice = 0.8
	sureWords = 0.6
)

// faintest is the least confidence of a recogniser in real speech. Several words below the
// configured confidence are reported as faint, so that a person who speaks to the agent gets a
// sign. Found with voices of espeak-ng and Festival; in noise it finds less, or what [noise]
// recognises.
const faintest = 0.12

// A listener is one Run. The frames come from one goroutine, results from others.
type listener struct {
	*Provider
	ear     *hear.Ear // used with the frames only
	out     *mailbox.Queue[item]
	bargeIn bargeInDetector
	spot    int // for how many frames to listen for phrases
	gate    phraseGate
	here    bool // a voice is heard, or in doubt

	zero   time.Duration // how long there was no sound at all, at the last frame
	sounds bool          // there was some, at the last frame

	settled chan struct{} // of capacity 1: a session has ended

	senses Sense // used with the frames only; nil if there is none

	analyser voiceprint.Analyser               // for everything that identifies voices
	turns    *voiceprint.SpeakerChangeDetector // of the open utterance; nil if nobody asks for it
	tape     []audio.Frame                     // the frames of it that its session was fed
	measured []voiceprint.Sound                // measurements of the same frames

	mu       sync.Mutex
	voices   int     // how many began
	open     *voice  // nil between utterances
	near     float64 // how loud who was understood last is, as power; 0 if nobody was
	late     *voice  // the last one heard over the agent that has ended, while its words are unknown
	sessions []*voice
	sampler  *voiceprint.Extractor      // of the open utterance; nil if nobody asks for voices
	crowd    voiceprint.OverlapDetector // for voices in it
}

// A voice is one utterance.
type voice struct {
	number    int
	began     time.Time
	lasted    time.Duration
	own       float64
	truncated bool
	voice     *earshot.Voice // nil if it cannot be told
	later     bool           // it began during another utterance
	overlaps  bool           // another voice is heard in it
	over      bool           // it was heard over the agent's own sound
	loud      float64        // as power
	lost      bool           // it will have no words
	session   Session        // nil if nothing recognises it
	words     earshot.Text   // recognised so far
	sure      float64        // of them
	ending    hear.Ending    // how complete the words sound
	before    earshot.Text   // what they were before they changed
	heard     time.Duration  // how much of it they are based on
	lag       time.Duration  // how long after they were said words may come
	turn      float64        // the probability, by its sound, that it is over; NaN if nobody listens to that
	patience  time.Duration  // how much silence ends it; 0 while nothing is known of it
	since     time.Duration  // how long the words have not changed
	still     time.Duration  // how long it had been silent at the last frame
	fed       time.Duration  // how much its session was fed
	stable    bool           // the words are unchanged, and the room was told so
	paused    bool           // the room was told that it pauses, and it still does
	doubt     doubt          // while there are no words
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

// hear handles one frame.
func (l *listener) hear(f *audio.Frame) {
	l.ear.Wait(l.patience(f))
	edge := l.ear.Step(f)
	if edge != hear.None {
		l.here = edge == hear.Began || edge == hear.Lasts
	}
	l.bargeIn.step(f, edge, l.here)
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
	l.sense(f)
	l.watch()
}

// sense finds out what the sound says, for the next frame.
func (l *listener) sense(f *audio.Frame) {
	if l.senses == nil {
		return
	}
	v, said, still := l.open, time.Duration(0), time.Duration(0)
	if v != nil {
		_, said, _ = l.ear.Utterance()
		still = l.ear.Still()
		said += still
	}
	sensed, turn := l.senses.Step(f, said, still)
	l.ear.Sensed(sensed)
	if v == nil || v.turn == turn || math.IsNaN(v.turn) && math.IsNaN(turn) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v.turn = turn
	l.weigh(v)
}

// patience returns how much silence ends the utterance, and adds what f says about its ending.
// While the agent's own sound plays, a request for more time is not waited for: it stops the
// agent.
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

// settles records how long it has been silent, and tells the room about words that have not
// changed for a while and are followed by silence: complete ones, since the room may prepare an
// answer, and incomplete ones, after which the voice will go on.
func (l *listener) settles() {
	still := l.ear.Still()
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.open
	if v == nil {
		return
	}
	began := (v.still > 0) != (still > 0)
	v.still = still
	if began && v.lag > 0 {
		l.weigh(v) // words that come late do not reach the end of what was said since
	}
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

// listenFor listens for phrases while the agent's own sound plays, while a voice goes on that
// began over it, since that makes the agent pause, and a little longer.
func (l *listener) listenFor(f *audio.Frame) {
	_, _, own := l.ear.Utterance()
	if f.Own || l.here && own > 0 {
		l.spot = spotting + 1
	}
	if l.spot == 0 || l.parts.Recogniser == nil {
		l.gate.n, l.gate.voiced = 0, 0
		return
	}
	l.spot--
	l.gate.take(f, l.parts.Recogniser)
}

// watch reports when the microphone gives nothing, not even noise, and when it gives sound again.
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

// feed hands f to the recogniser of the open utterance.
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
	v := &voice{number: l.voices, began: began, over: own > 0 || f.Own, turn: math.NaN()}
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

// admit begins to recognise v, if there is a recogniser for it.
func (l *listener) admit(v *voice) {
	v.lost = l.parts.Recogniser == nil || len(l.sessions) >= mostSessions
	if !v.lost {
		l.sessions = append(l.sessions, v)
	}
}

// attend has a recogniser listen to v, and reports whether there is one.
func (l *listener) attend(v *voice) bool {
	if !v.lost {
		v.session = l.parts.Recogniser.Begin(func(r Result) { l.result(v, r) })
	}
	return v.session != nil
}

// emit queues an event of a voice, or of none for 0.
func (l *listener) emit(voice int, at time.Time, body earshot.Body) {
	l.add(l.out, item{l.event(at, body), voice})
}

// over says that nothing came of a voice. If another has begun, that one reports for itself.
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
	v.loud = l.bargeIn.peak
	v.overlaps = l.sampler != nil && l.crowd.Overlap()
	if v.later {
		_, v.lasted, v.own = extent(l.tape)
	}
	if v.lost {
		l.over(v.number, v.began)
	} else if v.over && v.doubt.told != earshot.VoiceOver {
		l.late = v
	}
	l.mu.Unlock()
	if v.session != nil {
		v.session.End()
	}
}

// result handles the final result for v.
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
	if !faint && !v.over {
		l.near = v.loud
	}
	l.emit(v.number, v.began, earshot.Utterance{
		Text: r.Text, Faint: faint, Confidence: r.Confidence, Lasted: v.lasted, Own: v.own, Truncated: v.truncated, Overlaps: v.overlaps, Voice: v.voice,
	})
}

// lose records that v will not be recognised. It still counts as speaking until it ends. The part
// that runs the recogniser reports that there is none.
func (l *listener) lose(v *voice, err error) {
	if !errors.Is(err, stt.ErrAway) {
		l.fault("speech", fmt.Errorf("an utterance was not understood: %w", err))
	}
	if v.lost = true; v != l.open {
		l.over(v.number, v.began)
	}
}

// partial handles an interim result for v, if it is news.
func (l *listener) partial(v *voice, r Result) {
	if v != l.open || r.Text == v.words || noise(string(r.Text), r.Confidence) {
		return
	}
	v.before, v.words, v.heard, v.lag = v.words, r.Text, cmp.Or(min(r.Heard, v.fed), v.fed), r.Lag
	v.sure, v.since, v.stable = cmp.Or(r.Confidence, sureWords), 0, false
	l.weigh(v)
	l.emit(v.number, v.began, l.so(v))
}

// weigh finds out how much silence ends v, by what is known of it now.
func (l *listener) weigh(v *voice) {
	if v.words == "" && math.IsNaN(v.turn) {
		v.patience = 0
		return
	}
	about := l.talk()
	v.ending = hear.Judge(string(v.words), about)
	v.patience = l.cfg.Ear.Patience(hear.Evidence{
		Words: string(v.words), Before: string(v.before), Changed: v.still - (v.fed - v.heard), Lag: v.lag,
		Turn: v.turn, About: about,
	})
}

// so returns what the open voice v has said so far.
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

// settle removes v from the sessions, and returns false if it was removed already.
func (l *listener) settle(v *voice) bool {
	if l.late == v {
		l.late = nil
	}
	i := slices.Index(l.sessions, v)
	if i < 0 {
		return false
	}
	l.sessions = slices.Delete(l.sessions, i, i+1)
	select {
	case l.settled <- struct{}{}:
	default:
	}
	return true
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

// silentError is the error of a microphone that gives exact zeros, as no working one does.
type silentError struct{}

// Error says what is wrong.
func (silentError) Error() string { return "the microphone gives no sound at all, not even noise" }

// Cure says how to mend it.
func (silentError) Cure() string {
	return "unmute it: its own switch, or the sound settings; or choose another under providers.microphone.device"
}
