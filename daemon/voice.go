package daemon

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/section"
	"earshot/executive/room"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/sound"
	"earshot/internal/supervise"
	"earshot/internal/wait"
	"earshot/models/engine"
	hearing "earshot/models/hear"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// A speechIO is the speech input and output of the daemon: a sound card, and two sections that use
// it.
type speechIO struct {
	daemon *Daemon
	card   *sound.Card
	looks  func(context.Context) probe.VoiceFindings
}

// InstallVoice gives the daemon its speech input and output, as far as they are wanted and
// possible: a missing device may still come.
func (d *Daemon) InstallVoice(ctx context.Context) (findings []api.CheckResult) {
	d.speechModelsChanged() // from now on
	l := &speechIO{daemon: d, card: sound.New(helper.NewDialer(d.log, helper.SoundProgram), d.log)}
	look := func(ctx context.Context) probe.VoiceFindings {
		if c := d.Config(); !c.Providers.Microphone.Enabled && !c.Outlets.Loudspeaker.Enabled {
			return probe.VoiceFindings{}
		}
		return probe.Voice(ctx, d.Config())
	}
	once := look(ctx) // shared by all sections
	l.looks = func(context.Context) probe.VoiceFindings { return once }
	var mic atomic.Pointer[microphone.Provider]
	for _, s := range []*section.Section{
		{Name: cardSection, Build: l.buildCard},
		{Name: microphoneSection, Build: func(ctx context.Context) section.Build { return l.buildMicrophone(ctx, &mic) }, AwaitRest: func(ctx context.Context) { d.awaitPause(ctx, mic.Load()) }},
		{Name: loudspeakerSection, Build: l.buildLoudspeaker, AwaitRest: func(ctx context.Context) { wait.Until(ctx, longestSpeech, func() bool { return d.deskRoom().Still() }) }},
	} {
		s.AtDesk = true
		findings = append(findings, d.sections.Install(ctx, s)...)
	}
	l.looks = look
	return d.show(findings)
}

const (
	// longestSpeech is how long a speech is waited for before the loudspeaker is rebuilt.
	longestSpeech = 2 * time.Minute

	// longestRest is how long a pause is waited for before the microphone is rebuilt: after that,
	// what is being said is lost, and people are told so.
	longestRest = 10 * time.Second
)

// buildCard returns the sound card, which runs as long as anything needs it.
func (l *speechIO) buildCard(ctx context.Context) section.Build {
	looks := l.looks(ctx)
	if looks.None() {
		return section.Build{}
	}
	return section.Build{Parts: []section.Part{{Name: "sound card", Key: cardSection, Run: l.card.Run, Lost: !looks.Card}}}
}

// buildLoudspeaker returns the parts that speak.
func (l *speechIO) buildLoudspeaker(ctx context.Context) section.Build {
	cfg := l.daemon.Config()
	if !cfg.Outlets.Loudspeaker.Enabled {
		return section.Build{}
	}
	looks := l.looks(ctx)
	is := section.Build{Findings: []api.CheckResult{looks.Mouth}}
	l.daemon.health.NoteBy("loudspeaker", looks.SpeaksBy)
	if !looks.Speaks {
		return is
	}
	say, own := l.daemon.newVoice(cfg, l.daemon.report)
	there := new(supervise.Pulse)
	loud := loudspeaker.New(cfg.Outlets.Loudspeaker, loudspeaker.OnCard(l.card), own)
	is.Parts = []section.Part{
		{Name: "synthesis", Run: say.Run},
		{Name: "own voice", Run: own.rehearse},
		{
			Name: loud.Name(), Lost: !looks.Mouth.Works, Pulse: there,
			Run: retryOnCard(func(ctx context.Context) error {
				return loud.Run(ctx, func(o earshot.Outlet) func() {
					there.Beat()
					return l.daemon.enterLoudspeaker(o)
				})
			}),
		},
	}
	return is
}

// newVoice returns a synthesiser of the agent's voice, and the same as a voice that is learned.
func (d *Daemon) newVoice(cfg *config.Config, report func(earshot.Notice)) (*tts.Synthesiser, *learnedVoice) {
	voices := engine.New("speaks", cfg.Speech.Voices(helper.NewDialer(d.log, helper.SpeechProgram, "say"), neural.Open(d.log)), report)
	say := tts.New(tts.Config{Dial: voices.Dial, Voice: cfg.Outlets.Loudspeaker.Voice, Speed: cfg.Outlets.Loudspeaker.Speed, Log: d.log})
	return say, &learnedVoice{Fickle: say, learn: d.voices.Registry.LearnOwn}
}

// buildMicrophone returns the parts that hear; mic is the microphone that listens now.
func (l *speechIO) buildMicrophone(ctx context.Context, mic *atomic.Pointer[microphone.Provider]) section.Build {
	cfg := l.daemon.Config()
	if !cfg.Providers.Microphone.Enabled {
		return section.Build{Started: func() { mic.Store(nil) }}
	}
	looks := l.looks(ctx)
	is := section.Build{Findings: []api.CheckResult{looks.Ears}, Started: func() { mic.Store(nil) }}
	l.daemon.health.NoteBy("microphone", looks.HearsBy)
	if !looks.Hears {
		return is
	}
	there := new(supervise.Pulse)
	captured := pulsedCapture{microphone.OnCard(l.card, cfg.Providers.Microphone.Device), there}
	m, recognition := l.daemon.microphone(cfg, l.daemon.satellites.oneOf(earshot.Desk, "microphone", captured))
	is.Started = func() { mic.Store(m) }
	is.Parts = append(recognition, section.Part{
		Name: m.Name(), Modes: earshot.Mode.Listens, Lost: !looks.Ears.Works, Pulse: there,
		Run: retryOnCard(func(ctx context.Context) error { return m.Run(ctx, l.daemon.Admit) }),
	})
	return is
}

// awaitPause returns when nobody is speaking into mic, or says that the rest will be lost.
func (d *Daemon) awaitPause(ctx context.Context, mic *microphone.Provider) {
	if mic != nil && !wait.Until(ctx, longestRest, func() bool { return !mic.Hearing() }) && ctx.Err() == nil {
		d.deskRoom().Mention("What is being said right now will not be heard to its end: the microphone is restarting.")
	}
}

// A pulsedCapture is a capture that beats a pulse while it captures.
type pulsedCapture struct {
	microphone.Capture
	pulse *supervise.Pulse
}

// Frames implements [microphone.Capture].
func (p pulsedCapture) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		for f, err := range p.Capture.Frames(ctx) {
			if err == nil {
				p.pulse.Beat()
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// retryOnCard returns a run that repeats run when it ends because the card is gone: the part that
// runs the card reports that, once for everything on it, and the next call waits until the card is
// back.
func retryOnCard(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			if err := run(ctx); ctx.Err() != nil || !errors.Is(err, sound.ErrCard) {
				return err
			}
		}
	}
}

// A recogniserWithPhrases hears by one engine, and seeks names and phrases by another.
type recogniserWithPhrases struct {
	*stt.Recogniser
	phrases *stt.Recogniser
}

// Spot seeks phrases in a frame.
func (r recogniserWithPhrases) Spot(f *audio.Frame) { r.phrases.Spot(f) }

// microphone returns the provider that hears c, and the parts that recognise speech for it.
func (d *Daemon) microphone(cfg *config.Config, c microphone.Capture) (*microphone.Provider, []section.Part) {
	var mic *microphone.Provider
	recogniser := func(dial helper.Dialer) *stt.Recogniser {
		return stt.New(stt.Config{
			Dial: dial, Log: d.log, Names: []string{cfg.Executive.Name}, Phrases: engine.Phrases,
			On: func(p stt.Phrase) { mic.Called(p.Text, p.At) },
		})
	}
	embedded := helper.NewDialer(d.log, helper.SpeechProgram, "hear")
	engines := cfg.Speech.Recognisers(embedded, neural.Open(d.log))
	hear := recogniser(engine.New("hears", engines, d.report).Dial)
	ears, parts := microphone.UseSTT(hear), []section.Part{{Name: "recognition", Run: hear.Run}}
	if seek := cfg.Speech.Spotters(embedded, neural.Open(d.log), cfg.Executive.Name); !engines[0].IsEmbedded() || !seek[0].IsEmbedded() {
		spot := recogniser(engine.New("listens for the name", seek, d.report).Dial)
		ears = microphone.UseSTT(recogniserWithPhrases{hear, spot})
		parts = append(parts, section.Part{Name: "phrases", Run: spot.Run})
	}
	var senses *sense.Sensor
	if is, wanted := cfg.Speech.Sensing(neural.Open(d.log)); wanted {
		senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: d.log})
		parts = append(parts, section.Part{Name: "sensing of voices", Run: senses.Run})
	}
	mic = microphone.New(cfg.Providers.Microphone, d.microphoneParts(cfg, c, ears, senses, d.deskRoom))
	return mic, parts
}

// microphoneParts returns what a microphone that hears c in a room is made of. in returns the room, or
// nil if that is gone.
func (d *Daemon) microphoneParts(cfg *config.Config, c microphone.Capture, ears microphone.Recogniser, senses *sense.Sensor, in func() *room.Room) microphone.Parts {
	return microphone.Parts{
		Dropped: d.countDrops("microphone"),
		Capture: c, Recogniser: ears, Sense: microphone.UseSense(senses), Notice: d.report,
		Talk: func() (about hearing.Talk) {
			if r := in(); r != nil {
				about = hearing.Asks(string(r.Asked()))
			}
			about.Name = d.Config().Executive.Name
			return about
		},
		Voices: cfg.Executive.MultiParty.SpeakerAttribution && cfg.Speakers.Enabled,
	}
}

// InstallMicrophone adds the recognition of speech in the sound of c, and returns the provider
// that hears it, for [Daemon.Run].
func (d *Daemon) InstallMicrophone(ctx context.Context, c microphone.Capture) *microphone.Provider {
	mic, recognition := d.microphone(d.Config(), c)
	d.sections.Install(ctx, &section.Section{Name: mic.Name(), AtDesk: true, Is: section.Build{Parts: recognition}})
	return mic
}

// enterLoudspeaker adds the voice to the room. Everybody there hears it.
func (d *Daemon) enterLoudspeaker(o earshot.Outlet) (leave func()) {
	return d.deskRoom().Enter(o, earshot.Audience{Unknown: true})
}

// newReader returns how a voice reads out the clauses of one speech. Even what it does not say has
// a mark.
func newReader() func(earshot.Clause) earshot.Clause {
	var r tts.Reader
	return func(c earshot.Clause) earshot.Clause {
		s := r.Next(string(c.Text))
		c.Spoken, c.Marks = earshot.Text(s.Spoken), s.Marks
		if len(c.Marks) == 0 {
			c.Marks = []earshot.Mark{{}}
		}
		return c
	}
}
