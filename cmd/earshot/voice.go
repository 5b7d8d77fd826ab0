package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/supervise"
	hearing "earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// A part of the house runs in the background until the daemon ends. It is
// started again when it fails, and what befalls it is said once.
type part struct {
	name string
	run  func(context.Context) error
	lost bool // it is known not to work at first

	// lets, of what captures, are the modes of the desk in which it runs; nil if it
	// captures nothing.
	lets func(earshot.Mode) bool

	pulse *supervise.Pulse // where it shows that it is there; nil if to run is enough

	// as is what it is made of: when its section is made anew, a part that is made of the
	// same goes on. If nil, it is always another.
	as any
}

// phrases are what one can say to stop the agent while it speaks, beside its
// name.
var phrases = []string{"stop talking", "be quiet", "stop it"}

// restarts is how patiently parts are started again: as a supervisor is by
// itself, but in tests, which are in a hurry.
var restarts supervise.Config

// A speechIO is what the house hears and speaks with: a sound card, and two sections that
// use it.
type speechIO struct {
	*daemon
	card  *sound.Card
	looks func(context.Context) sounding
}

// openSpeechIO gives the house ears and a mouth, as far as they are wanted and can be there: a
// device that is missing may still come.
func (d *daemon) openSpeechIO(ctx context.Context) (findings []finding) {
	l := &speechIO{daemon: d, card: sound.New(helper.NewDialer(d.log, helper.SoundProgram), d.log)}
	look := func(ctx context.Context) sounding {
		if c := d.config(); !c.Providers.Microphone.Enabled && !c.Outlets.Loudspeaker.Enabled {
			return sounding{}
		}
		return lookAtVoice(ctx, d.config())
	}
	once := look(ctx) // for all of them
	l.looks = func(context.Context) sounding { return once }
	var mic atomic.Pointer[microphone.Provider]
	for _, s := range []*section{
		{name: theCard, make: l.wire},
		{name: theMicrophone, make: func(ctx context.Context) sectionBuild { return l.ears(ctx, &mic) }, rests: func(ctx context.Context) { d.unheard(ctx, mic.Load()) }},
		{name: theLoudspeaker, make: l.mouth, rests: func(ctx context.Context) { wait(ctx, longestSpeech, d.desk.Still) }},
	} {
		findings = append(findings, d.install(ctx, s)...)
	}
	l.looks = look
	return findings
}

const (
	// longestSpeech is how long what is being said aloud is waited for before the
	// loudspeaker becomes another one.
	longestSpeech = 2 * time.Minute

	// longestRest is how long it is waited for a pause before the microphone does: then
	// what is being said is lost, and that is said.
	longestRest = 10 * time.Second
)

// wire returns the sound card, which goes on as long as anything needs it.
func (l *speechIO) wire(ctx context.Context) sectionBuild {
	looks := l.looks(ctx)
	if looks.none() {
		return sectionBuild{}
	}
	return sectionBuild{parts: []part{{name: "sound card", as: theCard, run: l.card.Run, lost: !looks.card}}}
}

// mouth returns what speaks.
func (l *speechIO) mouth(ctx context.Context) sectionBuild {
	cfg := l.config()
	if !cfg.Outlets.Loudspeaker.Enabled {
		return sectionBuild{}
	}
	looks := l.looks(ctx)
	is := sectionBuild{findings: []finding{looks.mouth}}
	if !looks.speaks {
		return is
	}
	say := tts.New(tts.Config{Dial: helper.NewDialer(l.log, helper.SpeechProgram, "say"), Voice: cfg.Outlets.Loudspeaker.Voice, Speed: cfg.Outlets.Loudspeaker.Speed, Log: l.log})
	own := &mirrored{Fickle: say, learn: l.voices.LearnOwn}
	there := new(supervise.Pulse)
	loud := loudspeaker.New(cfg.Outlets.Loudspeaker, loudspeaker.OnCard(l.card), own)
	is.parts = []part{
		{name: "synthesis", run: say.Run},
		{name: "own voice", run: own.rehearse},
		{
			name: loud.Name(), lost: !looks.mouth.Works, pulse: there,
			run: onCard(func(ctx context.Context) error {
				return loud.Run(ctx, func(o earshot.Outlet) func() {
					there.Beat()
					return l.enterLoudspeaker(o)
				})
			}),
		},
	}
	return is
}

// ears returns what hears; mic is the one of them that listens now.
func (l *speechIO) ears(ctx context.Context, mic *atomic.Pointer[microphone.Provider]) sectionBuild {
	cfg := l.config()
	if !cfg.Providers.Microphone.Enabled {
		return sectionBuild{begins: func() { mic.Store(nil) }}
	}
	looks := l.looks(ctx)
	is := sectionBuild{findings: []finding{looks.ears}, begins: func() { mic.Store(nil) }}
	if !looks.hears {
		return is
	}
	there := new(supervise.Pulse)
	m, recognition := l.microphone(cfg, pulsing{microphone.OnCard(l.card, cfg.Providers.Microphone.Device), there})
	is.begins = func() { mic.Store(m) }
	is.parts = []part{recognition, {
		name: m.Name(), lets: earshot.Mode.Listens, lost: !looks.ears.Works, pulse: there,
		run: onCard(func(ctx context.Context) error { return m.Run(ctx, l.Admit) }),
	}}
	return is
}

// unheard returns when nobody is saying anything into mic, or says that it is lost.
func (d *daemon) unheard(ctx context.Context, mic *microphone.Provider) {
	if mic != nil && !wait(ctx, longestRest, func() bool { return !mic.Hearing() }) && ctx.Err() == nil {
		d.desk.Mention("What is being said just now is not heard to its end: the microphone begins again.")
	}
}

// A pulsing capture shows that it captures.
type pulsing struct {
	microphone.Capture
	pulse *supervise.Pulse
}

// Frames implements [microphone.Capture].
func (p pulsing) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
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

// onCard returns run, called again when it ends because the card is gone: who
// runs the card tells of that, once for all that is on it, and the next call
// waits until the card is back.
func onCard(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			if err := run(ctx); ctx.Err() != nil || !errors.Is(err, sound.ErrCard) {
				return err
			}
		}
	}
}

// microphone returns the sense that hears c, and the part that recognises for
// it.
func (d *daemon) microphone(cfg *config.Config, c microphone.Capture) (*microphone.Provider, part) {
	var mic *microphone.Provider
	hear := stt.New(stt.Config{
		Dial: helper.NewDialer(d.log, helper.SpeechProgram, "hear"), Log: d.log,
		Names: []string{cfg.Executive.Name}, Phrases: phrases,
		On: func(p stt.Phrase) { mic.Called(p.Text, p.At) },
	})
	mic = microphone.New(cfg.Providers.Microphone, microphone.Parts{
		Dropped: d.drops("microphone"),
		Capture: c, Recogniser: recogniser{hear}, Notice: d.report,
		Talk: func() hearing.Talk {
			about := hearing.Asks(string(d.desk.Asked()))
			about.Name = d.config().Executive.Name
			return about
		},
		Voices: cfg.Executive.MultiParty.SpeakerAttribution && cfg.Speakers.Enabled,
	})
	return mic, part{name: "recognition", run: hear.Run}
}

// enterLoudspeaker lets the voice into the room. Whoever is there hears it.
func (d *daemon) enterLoudspeaker(o earshot.Outlet) (leave func()) {
	return d.desk.Enter(o, earshot.Audience{Unknown: true})
}

// reader returns how a voice says the clauses of one speech. What it does not say
// at all has a mark all the same.
func reader() func(earshot.Clause) earshot.Clause {
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

// A recogniser is one as a microphone knows it: one of its own, or that of one person in
// a call.
type recogniser struct{ understanding }

type understanding interface {
	Begin(on func(stt.Result)) *stt.Session
	Spot(f *audio.Frame)
}

// Begin implements [microphone.Recogniser].
func (r recogniser) Begin(on func(microphone.Result)) microphone.Session {
	return r.understanding.Begin(func(s stt.Result) {
		on(microphone.Result{Text: s.Text, Heard: s.Heard, Confidence: s.Confidence, Final: s.Final, Err: s.Err})
	})
}

// senses looks for what the house could hear and speak with, and gives it what
// is there.
func (a *app) senses(d *daemon, voice bool) []finding {
	if !voice {
		return nil
	}
	findings := d.openSpeechIO(a.ctx)
	for _, f := range findings {
		if !f.Works {
			d.shows(f.notice())
		}
	}
	return findings
}

// lookAtSenses looks at whatever the configuration wants earshot to hear and
// speak with.
func lookAtSenses(ctx context.Context, cfg *config.Config) []finding {
	if !cfg.Providers.Microphone.Enabled && !cfg.Outlets.Loudspeaker.Enabled {
		return nil
	}
	return lookAtVoice(ctx, cfg).wanted(cfg)
}

// A sounding is what was found out about hearing and speaking.
type sounding struct {
	ears, mouth   finding
	card          bool // there are devices
	hears, speaks bool // nothing is missing that would not come by itself, as a device may
}

// none reports whether there is nothing to hear or speak with.
func (s sounding) none() bool { return !s.hears && !s.speaks }

// wanted returns what cfg wants of it.
func (s sounding) wanted(cfg *config.Config) (all []finding) {
	if cfg.Providers.Microphone.Enabled {
		all = append(all, s.ears)
	}
	if cfg.Outlets.Loudspeaker.Enabled {
		all = append(all, s.mouth)
	}
	return all
}

// dictation says what the ears are good for.
const dictation = "clean English only; for more, dictate into the console by another program"

// lookAtVoice looks for the devices, the helpers and the models.
func lookAtVoice(ctx context.Context, cfg *config.Config) sounding {
	var looks sounding
	var roles map[string]role
	var err error
	var g sync.WaitGroup
	g.Go(func() {
		looks.ears, looks.mouth, err = lookAtSound(ctx, cfg.Providers.Microphone.Device, cfg.Outlets.Loudspeaker.Device)
	})
	g.Go(func() { roles = lookAtSpeech(ctx) })
	g.Wait()
	looks.card = err == nil
	mends := !errors.Is(err, errors.ErrUnsupported) // by itself, such as a sound server that is still to start
	looks.hears, looks.speaks = mends && roles["hear"].may(), mends && roles["say"].may()
	looks.ears = without(looks.ears, roles["hear"])
	if looks.ears.Works {
		looks.ears.Text += ": say \"" + cfg.Executive.Name + ", …\" (" + dictation + ")"
	}
	looks.mouth = without(looks.mouth, roles["say"])
	return looks
}

// without returns device, or what keeps it from being of use.
func without(device finding, role role) finding {
	if !device.Works || role.Works {
		return device
	}
	device.Works, device.Text, device.Cure = false, role.Text, role.Cure
	return device
}

// A role is what the helper for speech can do here.
type role struct {
	finding
	late bool // it has not said so yet
}

// may reports whether the role works, or may yet.
func (r role) may() bool { return r.Works || r.late }

// lookAtSpeech asks the helper for speech which of its roles work here.
func lookAtSpeech(ctx context.Context) map[string]role {
	path, err := helper.Find(helper.SpeechProgram)
	if err != nil {
		f := finding{Text: err.Error()}
		if c, ok := errors.AsType[curable](err); ok {
			f.Cure = c.Cure()
		}
		return allRoles(role{finding: f})
	}
	ctx, cancel := context.WithTimeout(ctx, patienceWithSound)
	defer cancel()
	return askRoles(ctx, path)
}

// askRoles asks the helper at path.
func askRoles(ctx context.Context, path string) map[string]role {
	var said []struct {
		Role string `json:"role"`
		finding
	}
	if err := check(ctx, path, &said); len(said) == 0 {
		return allRoles(role{broken(ctx, finding{}, helper.SpeechProgram, err), ctx.Err() != nil})
	}
	roles := make(map[string]role)
	for _, s := range said {
		s.Thing = s.Role
		roles[s.Role] = role{finding: s.finding}
	}
	return roles
}

// check asks the helper at path what works on this machine.
func check(ctx context.Context, path string, said any) error {
	out, err := helper.Ask(ctx, path, "check")
	return errors.Join(err, json.Unmarshal(out, said))
}

// broken says of f that its helper, asked with ctx, has said nothing that makes sense.
func broken(ctx context.Context, f finding, program string, err error) finding {
	if ctx.Err() != nil {
		return unanswered(f, program)
	}
	f.Text, f.Cure = fmt.Sprintf("%s does not work: %v", program, err), "make build, in the source of earshot"
	return f
}

// allRoles returns r for each role.
func allRoles(r role) map[string]role {
	roles := make(map[string]role)
	for _, name := range []string{"hear", "say", "media"} {
		r.Thing = name
		roles[name] = r
	}
	return roles
}

// quietly is for helpers that are asked and not run.
var quietly = slog.New(slog.DiscardHandler)
