// Package microphone is the provider that hears what is said at this machine: frames of sound
// become stages of a voice, and utterances. If voices are to be identified, each utterance comes
// with a voice sample; and where another voice takes over without a pause, there are two
// utterances: the recognition of both together is thrown away, and each is recognised anew.
//
// Frames never wait for recognition or for the room; the capture has a ring buffer anyway. The
// events wait in a queue, in order:
//
//   - a stage of a voice takes the place of the one before it, if that still
//     waits: it says more;
//   - phrases that are listened for, such as "stop talking": [mostCalls], then
//     the oldest is dropped, which said the same;
//   - utterances: [mostUtterances], then the oldest is dropped, and a notice
//     says so.
//
// An utterance that waits for the room's disk delays no stage, no phrase and, until there are
// [mostKept] of them, no other utterance. Utterances are brought to the room in the order in which
// they were recognised, each at most [headStart] after the one before, so that a room that gives
// them their places at once keeps that order. Stages may overtake them; an utterance that comes
// after the next voice has begun does not take back that voice's demand. However Run ends, no
// stage is left without a follow-up.
package microphone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/mailbox"
	"earshot/internal/sound"
	"earshot/models/hear"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/models/voiceprint"
	"earshot/providers"
)

// A Capture is a microphone, or a substitute.
type Capture interface {
	// Frames opens it and yields 20 ms at a time, valid until the next, until ctx ends or it ends
	// by itself. An error is yielded once, last. Leaving the loop closes it.
	Frames(ctx context.Context) iter.Seq2[*audio.Frame, error]
}

// OnCard returns the microphone with a name on a card, or the system's default for "".
func OnCard(c *sound.Card, device string) Capture { return cardCapture{c, device} }

type cardCapture struct {
	card   *sound.Card
	device string
}

func (o cardCapture) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		input, err := o.card.Input(ctx, o.device)
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		input.Frames(ctx)(yield)
	}
}

// A Recogniser turns sound into words. None of its methods block, nor do those of its sessions.
type Recogniser interface {
	// Begin begins an utterance. It calls on, from one goroutine at a time, with interim results,
	// and last with the final one.
	Begin(on func(Result)) Session

	// Spot listens in f for phrases such as "stop talking". It passes what it finds to
	// [Provider.Called].
	Spot(f *audio.Frame)
}

// A Session is one utterance in a [Recogniser].
type Session interface {
	Feed(f *audio.Frame) // the next 20 ms of it; f belongs to the caller again afterwards
	End()                // there is no more; the final result follows within a bound
	Cancel()             // no result is wanted any more
}

// A Result is what was recognised in an utterance.
type Result = stt.Result

// A recogniser is one of models/stt.
type recogniser struct{ sttRecogniser }

type sttRecogniser interface {
	Begin(on func(Result)) *stt.Session
	Spot(f *audio.Frame)
}

// UseSTT returns a Recogniser on models/stt: on a recogniser of its own, or on that of one person
// in a call.
func UseSTT(r sttRecogniser) Recogniser { return recogniser{r} }

// Begin implements [Recogniser].
func (r recogniser) Begin(on func(Result)) Session { return r.sttRecogniser.Begin(on) }

// A Sense says by the sound alone whether there is a voice, and whether its speaker has finished. It is
// used from one goroutine, and does not block.
type Sense interface {
	// Step takes the next frame, how long somebody has been saying something at its end, and how long
	// they have been silent; both are 0 if nobody speaks. It returns what is known about the last
	// frames, and the probability that the speaker has finished, as [hear.Evidence] has it.
	Step(f *audio.Frame, said, still time.Duration) (hear.Sensed, float64)

	Close() // no more frames come
}

// UseSense returns what [Parts] wants of a sensor, or nil if there is none.
func UseSense(s *sense.Sensor) func() Sense {
	if s == nil {
		return nil
	}
	return func() Sense { return s.Listen() }
}

// Parts are the dependencies of a microphone.
type Parts struct {
	Capture    Capture
	Recogniser Recogniser // nil if there is none: voices are noticed, not recognised

	// Sense returns what listens to the sound of one run. It may be nil: then the loudness of the sound
	// and the words decide alone.
	Sense func() Sense

	// Voices says that utterances come with the sound of their voice, to identify the speaker; see
	// [earshot.Voice].
	Voices bool

	// Talk returns what the room knows about the conversation, which affects how long to wait for
	// more words. It is called whenever there are new ones, so it must not block. If nil, nothing
	// is known.
	Talk func() hear.Talk

	// Dropped, if set, receives the number of utterances that could not be stored. It returns at
	// once.
	Dropped func(n int)

	Notice func(earshot.Notice) // receives faults other than of the device; may be nil; must not block

	// Name is the name of the provider; "" is "microphone". From is the speaker; the zero handle is
	// the device, for whoever speaks into it. Via is the outlet for replies; "" is "loudspeaker".
	// Another provider, in which everybody has a track of their own, such as a call, makes one
	// Provider for each of them.
	Name string
	From earshot.Handle
	Via  string
}

// A Provider is the microphone's provider. Its methods may be called from any goroutine; it runs
// once at a time.
type Provider struct {
	cfg   Config
	parts Parts

	mu   sync.Mutex
	live *listener // nil while it does not run

	telling sync.Mutex      // held while a notice is sent, to keep the order
	told    map[string]bool // the current faults
}

// New returns the microphone of a configuration, which must be valid. It opens nothing until it
// runs.
func New(cfg Config, parts Parts) *Provider {
	return &Provider{cfg: cfg, parts: parts, told: make(map[string]bool)}
}

// Name implements [providers.Provider].
func (p *Provider) Name() string { return cmp.Or(p.parts.Name, "microphone") }

// How long the last words may take to be recognised and stored.
const (
	goodbye  = 5 * time.Second // after the capture was lost; it is opened again afterwards
	recorded = time.Minute     // after the capture ended by itself, as a recording: a busy machine may be late
)

// Run implements [providers.Provider]. It ends by itself when the capture does, as a recording
// does; what was said until then is still recognised.
func (p *Provider) Run(ctx context.Context, emit providers.Emit) error {
	sending, giveUp := context.WithCancel(ctx)
	defer giveUp()
	out := mailbox.New(bound)
	var sender sync.WaitGroup
	sender.Go(func() { p.send(sending, out, emit) })

	l := &listener{Provider: p, ear: hear.New(p.cfg.Ear), out: out, settled: make(chan struct{}, 1)}
	if p.parts.Voices {
		l.sampler, l.turns = voiceprint.New(), voiceprint.NewSpeakerChangeDetector()
	}
	if p.parts.Sense != nil {
		l.senses = p.parts.Sense()
		defer l.senses.Close()
	}
	p.set(l)
	err := l.listen(ctx)
	patience := recorded
	if err != nil {
		patience = goodbye
	}
	defer time.AfterFunc(patience, giveUp).Stop()
	l.await(sending)
	p.set(nil)
	out.Close()
	sender.Wait()
	l.wipe()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Called handles a spotted phrase that was heard at a time. It does not block, and may be called
// at any time.
func (p *Provider) Called(words earshot.Text, at time.Time) {
	p.mu.Lock()
	l := p.live
	p.mu.Unlock()
	if l != nil {
		l.emit(0, at, earshot.Speech{Stage: earshot.VoiceCalls, Words: words, Confidence: 1, Own: true})
	}
}

// Hearing reports whether somebody is speaking, or has spoken and is still to be recognised.
func (p *Provider) Hearing() bool {
	p.mu.Lock()
	l := p.live
	p.mu.Unlock()
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil || len(l.sessions) > 0
}

func (p *Provider) set(l *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = l
}

// event makes an event that began at.
func (p *Provider) event(at time.Time, body earshot.Body) earshot.Event {
	return earshot.Event{At: at, From: p.handle(), Via: cmp.Or(p.parts.Via, "loudspeaker"), Body: body}
}

// handle returns who is heard.
func (p *Provider) handle() earshot.Handle {
	return cmp.Or(p.parts.From, earshot.Handle{Provider: p.Name(), ID: cmp.Or(p.cfg.Device, "default")})
}

// send brings events to the room, until the queue is closed and empty or ctx ends. Another
// goroutine brings each utterance, once the room has taken what came before. At the end send
// withdraws the demand of a voice that will not go on.
func (p *Provider) send(ctx context.Context, out *mailbox.Queue[item], emit providers.Emit) {
	slow, d := mailbox.New(bound), newDemand(emit)
	var keeper sync.WaitGroup
	keeper.Go(func() { p.keep(ctx, slow, d) })
	for e, ok := out.Take(ctx); ok; e, ok = out.Take(ctx) {
		if isUtterance(e) {
			p.add(slow, e)
			continue
		}
		d.tell(ctx, e)
	}
	slow.Close()
	keeper.Wait()
	left, _ := out.TakeAll(nil)
	left, _ = slow.TakeAll(left)
	if n := count(left, isUtterance); n > 0 {
		p.dropped(n)
		p.fault("unkept speech", fmt.Errorf("%d utterances were dropped, because the microphone was stopped before they could be kept", n))
	}
	d.end(ctx)
}

// keep brings utterances to the room, each in a goroutine of its own, since a word that cuts must
// not wait for the disk that stores the words before it.
func (p *Provider) keep(ctx context.Context, slow *mailbox.Queue[item], d *demand) {
	var keeping sync.WaitGroup
	defer keeping.Wait()
	free := make(chan struct{}, mostKept)
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		e, ok := slow.Take(ctx)
		if !ok {
			return
		}
		done := make(chan error, 1)
		keeping.Go(func() {
			err := d.emit(ctx, e.Event)
			p.kept(ctx, err)
			done <- err
			<-free
		})
		d.settle(ctx, e, done)
	}
}

// add appends e to q, and reports a dropped utterance.
func (p *Provider) add(q *mailbox.Queue[item], e item) {
	if n := q.Put(e); n > 0 {
		p.dropped(n)
		p.fault("unkept speech", errors.New("the oldest utterances were dropped, because nothing can be kept at present"))
	}
}

// dropped counts utterances that could not be stored.
func (p *Provider) dropped(n int) {
	if p.parts.Dropped != nil {
		p.parts.Dropped(n)
	}
}

// kept records the fate of an utterance.
func (p *Provider) kept(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.mend("unkept speech", "speech is kept again")
	case ctx.Err() == nil:
		p.fault("unkept speech", fmt.Errorf("an utterance was not kept: %w", err))
	}
}

// fault reports a fault once.
func (p *Provider) fault(key string, err error) {
	n := earshot.Notice{Key: key, Text: err.Error()}
	if c, ok := errors.AsType[interface {
		error
		Cure() string
	}](err); ok {
		n.Cure = c.Cure()
	}
	p.say(n)
}

// mend reports the end of a fault that was reported.
func (p *Provider) mend(key, text string) {
	p.say(earshot.Notice{Key: key, Text: text, Over: true})
}

// say sends a notice, unless it changes nothing.
func (p *Provider) say(n earshot.Notice) {
	p.telling.Lock()
	defer p.telling.Unlock()
	known := p.told[n.Key] != n.Over
	p.told[n.Key] = !n.Over
	if !known && p.parts.Notice != nil {
		p.parts.Notice(n)
	}
}
