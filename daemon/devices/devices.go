// Package devices has the microphones and the loudspeakers of a daemon: what hears and what speaks, and the
// engines of speech behind them.
package devices

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/section"
	"earshot/internal/audio"
	"earshot/internal/audio/arbiter"
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
	"earshot/providers"
	"earshot/providers/microphone"
)

// A Room is what devices need of [earshot/executive/room.Room].
type Room interface {
	Mode() (earshot.Mode, <-chan struct{})
	Still() bool
	Asked() earshot.Text
	Mention(text string)
	Report(earshot.Notice)
	Enter(o earshot.Outlet, a earshot.Audience) (leave func())
}

// A Config is what devices need of their daemon.
type Config struct {
	Settings func() *config.Config // in force
	Log      *slog.Logger
	Report   func(earshot.Notice) // tells people about a fault
	Admit    providers.Emit
	Dropped  func(queue string) func(int) // returns what counts the drops of a queue
	NoteBy   func(part, engine string)    // is told by which engine a part works
	Learn    func(*earshot.Voice)         // learns how the agent sounds
	Desk     func() Room
}

// Devices are the microphone and the loudspeaker of this machine.
type Devices struct {
	Config
	card     *sound.Card
	findings func(context.Context) probe.VoiceFindings

	mu       sync.Mutex
	arbiters map[earshot.RoomID]*arbiter.Arbiter // of rooms where more than one microphone may be
}

// New returns the devices of a daemon.
func New(c Config) *Devices {
	return &Devices{Config: c, card: sound.New(helper.NewDialer(c.Log, helper.SoundProgram), c.Log)}
}

// Names are what the sections of the devices are called.
type Names struct{ Card, Microphone, Loudspeaker string }

// Install installs the sections of the microphone and of the loudspeaker, as far as they are wanted and
// possible: a missing device may still come. It returns what was found out about them.
func (d *Devices) Install(ctx context.Context, r *section.Runner, names Names) (findings []api.CheckResult) {
	look := func(ctx context.Context) probe.VoiceFindings {
		if c := d.Settings(); !c.Providers.Microphone.Enabled && !c.Outlets.Loudspeaker.Enabled {
			return probe.VoiceFindings{}
		}
		return probe.Voice(ctx, d.Settings())
	}
	once := look(ctx) // shared by all sections
	d.findings = func(context.Context) probe.VoiceFindings { return once }
	var mic atomic.Pointer[microphone.Provider]
	for _, s := range []*section.Section{
		{Name: names.Card, Build: d.buildCard},
		{Name: names.Microphone, Build: func(ctx context.Context) section.Build { return d.buildMicrophone(ctx, &mic) }, AwaitRest: func(ctx context.Context) { d.awaitPause(ctx, mic.Load()) }},
		{Name: names.Loudspeaker, Build: d.buildLoudspeaker, AwaitRest: func(ctx context.Context) { wait.Until(ctx, LongestSpeech, d.Desk().Still) }},
	} {
		s.AtDesk = true
		findings = append(findings, r.Install(ctx, s)...)
	}
	d.findings = look
	return findings
}

// Arbitrate returns a microphone of a room as one of several that may hear the same.
func (d *Devices) Arbitrate(room earshot.RoomID, name string, c microphone.Capture) microphone.Capture {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.arbiters == nil {
		d.arbiters = make(map[earshot.RoomID]*arbiter.Arbiter)
	}
	if d.arbiters[room] == nil {
		d.arbiters[room] = new(arbiter.Arbiter)
	}
	return d.arbiters[room].Wrap(name, c)
}

const (
	// LongestSpeech is how long a speech is waited for before the loudspeaker is rebuilt.
	LongestSpeech = 2 * time.Minute

	// LongestRest is how long a pause is waited for before the microphone is rebuilt: after that,
	// what is being said is lost, and people are told so.
	LongestRest = 10 * time.Second
)

// buildCard returns the sound card, which runs as long as anything needs it.
func (d *Devices) buildCard(ctx context.Context) section.Build {
	looks := d.findings(ctx)
	if looks.None() {
		return section.Build{}
	}
	return section.Build{Parts: []section.Part{{Name: "sound card", Key: "sound card", Run: d.card.Run, Lost: !looks.Card}}}
}

// buildLoudspeaker returns the parts that speak.
func (d *Devices) buildLoudspeaker(ctx context.Context) section.Build {
	cfg := d.Settings()
	if !cfg.Outlets.Loudspeaker.Enabled {
		return section.Build{}
	}
	looks := d.findings(ctx)
	is := section.Build{Findings: []api.CheckResult{looks.Mouth}}
	d.NoteBy("loudspeaker", looks.SpeaksBy)
	if !looks.Speaks {
		return is
	}
	say, own := d.NewVoice(cfg, d.Report)
	there := new(supervise.Pulse)
	loud := loudspeaker.New(cfg.Outlets.Loudspeaker, loudspeaker.OnCard(d.card), own)
	is.Parts = []section.Part{
		{Name: "synthesis", Run: say.Run},
		{Name: "own voice", Run: own.Rehearse},
		{
			Name: loud.Name(), Lost: !looks.Mouth.Works, Pulse: there,
			Run: RetryOnCard(func(ctx context.Context) error {
				return loud.Run(ctx, func(o earshot.Outlet) func() {
					there.Beat()
					return d.Desk().Enter(o, earshot.Audience{Unknown: true}) // everybody there hears it
				})
			}),
		},
	}
	return is
}

// NewVoice returns a synthesiser of the agent's voice, and the same as a voice that is learned.
func (d *Devices) NewVoice(cfg *config.Config, report func(earshot.Notice)) (*tts.Synthesiser, *LearnedVoice) {
	voices := engine.New("speaks", cfg.Speech.Voices(helper.NewDialer(d.Log, helper.SpeechProgram, "say"), neural.Open(d.Log)), report)
	say := tts.New(tts.Config{Dial: voices.Dial, Voice: cfg.Outlets.Loudspeaker.Voice, Speed: cfg.Outlets.Loudspeaker.Speed, Log: d.Log})
	return say, &LearnedVoice{Fickle: say, learn: d.Learn}
}

// buildMicrophone returns the parts that hear; mic is the microphone that listens now.
func (d *Devices) buildMicrophone(ctx context.Context, mic *atomic.Pointer[microphone.Provider]) section.Build {
	cfg := d.Settings()
	if !cfg.Providers.Microphone.Enabled {
		return section.Build{Started: func() { mic.Store(nil) }}
	}
	looks := d.findings(ctx)
	is := section.Build{Findings: []api.CheckResult{looks.Ears}, Started: func() { mic.Store(nil) }}
	d.NoteBy("microphone", looks.HearsBy)
	if !looks.Hears {
		return is
	}
	there := new(supervise.Pulse)
	captured := PulsedCapture{microphone.OnCard(d.card, cfg.Providers.Microphone.Device), there}
	m, recognition := d.Microphone(cfg, d.Arbitrate(earshot.Desk, "microphone", captured))
	is.Started = func() { mic.Store(m) }
	is.Parts = append(recognition, section.Part{
		Name: m.Name(), Modes: earshot.Mode.Listens, Lost: !looks.Ears.Works, Pulse: there,
		Run: RetryOnCard(func(ctx context.Context) error { return m.Run(ctx, d.Admit) }),
	})
	return is
}

// awaitPause returns when nobody is speaking into mic, or says that the rest will be lost.
func (d *Devices) awaitPause(ctx context.Context, mic *microphone.Provider) {
	if mic != nil && !wait.Until(ctx, LongestRest, func() bool { return !mic.Hearing() }) && ctx.Err() == nil {
		d.Desk().Mention("What is being said right now will not be heard to its end: the microphone is restarting.")
	}
}

// A PulsedCapture is a capture that beats a pulse while it captures.
type PulsedCapture struct {
	microphone.Capture
	Pulse *supervise.Pulse
}

// Frames implements [microphone.Capture].
func (p PulsedCapture) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		for f, err := range p.Capture.Frames(ctx) {
			if err == nil {
				p.Pulse.Beat()
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// RetryOnCard returns a run that repeats run when it ends because the card is gone: the part that
// runs the card reports that, once for everything on it, and the next call waits until the card is
// back.
func RetryOnCard(run func(context.Context) error) func(context.Context) error {
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

// Microphone returns the provider that hears c, and the parts that recognise speech for it.
func (d *Devices) Microphone(cfg *config.Config, c microphone.Capture) (*microphone.Provider, []section.Part) {
	var mic *microphone.Provider
	recogniser := func(dial helper.Dialer) *stt.Recogniser {
		return stt.New(stt.Config{
			Dial: dial, Log: d.Log, Names: []string{cfg.Executive.Name}, Phrases: engine.Phrases,
			On: func(p stt.Phrase) { mic.Called(p.Text, p.At) },
		})
	}
	embedded := helper.NewDialer(d.Log, helper.SpeechProgram, "hear")
	engines := cfg.Speech.Recognisers(embedded, neural.Open(d.Log))
	hear := recogniser(engine.New("hears", engines, d.Report).Dial)
	ears, parts := microphone.UseSTT(hear), []section.Part{{Name: "recognition", Run: hear.Run}}
	if seek := cfg.Speech.Spotters(embedded, neural.Open(d.Log), cfg.Executive.Name); !engines[0].IsEmbedded() || !seek[0].IsEmbedded() {
		spot := recogniser(engine.New("listens for the name", seek, d.Report).Dial)
		ears = microphone.UseSTT(recogniserWithPhrases{hear, spot})
		parts = append(parts, section.Part{Name: "phrases", Run: spot.Run})
	}
	var senses *sense.Sensor
	if is, wanted := cfg.Speech.Sensing(neural.Open(d.Log)); wanted {
		senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: d.Log})
		parts = append(parts, section.Part{Name: "sensing of voices", Run: senses.Run})
	}
	mic = microphone.New(cfg.Providers.Microphone, d.MicrophoneParts(cfg, c, ears, senses, d.Desk))
	return mic, parts
}

// MicrophoneParts returns what a microphone that hears c in a room is made of. in returns the room, or
// nil if that is gone.
func (d *Devices) MicrophoneParts(cfg *config.Config, c microphone.Capture, ears microphone.Recogniser, senses *sense.Sensor, in func() Room) microphone.Parts {
	return microphone.Parts{
		Dropped: d.Dropped("microphone"),
		Capture: c, Recogniser: ears, Sense: microphone.UseSense(senses), Notice: d.Report,
		Talk: func() (about hearing.Talk) {
			if r := in(); r != nil {
				about = hearing.Asks(string(r.Asked()))
			}
			about.Name = d.Settings().Executive.Name
			return about
		},
		Voices: tellsVoices(cfg),
	}
}

// tellsVoices reports whether microphones tell voices apart.
func tellsVoices(cfg *config.Config) bool {
	return cfg.Executive.MultiParty.SpeakerAttribution && cfg.Speakers.Enabled
}
