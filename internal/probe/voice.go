package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/models/engine"
	"earshot/models/neural"
)

// Senses looks at whatever the configuration wants earshot to hear and
// speak with.
func Senses(ctx context.Context, cfg *config.Config) []api.CheckResult {
	if !cfg.Providers.Microphone.Enabled && !cfg.Outlets.Loudspeaker.Enabled {
		return nil
	}
	return Voice(ctx, cfg).wanted(cfg)
}

// VoiceFindings is what was found out about hearing and speaking.
type VoiceFindings struct {
	Ears, Mouth   api.CheckResult
	Card          bool // there are devices
	Hears, Speaks bool // nothing is missing that would not come by itself, as a device may

	HearsBy, SpeaksBy string // which engines, and why; empty for those that come with the program
}

// None reports whether there is nothing to hear or speak with.
func (s VoiceFindings) None() bool { return !s.Hears && !s.Speaks }

// wanted returns what cfg wants of it.
func (s VoiceFindings) wanted(cfg *config.Config) (all []api.CheckResult) {
	if cfg.Providers.Microphone.Enabled {
		all = append(all, s.Ears)
	}
	if cfg.Outlets.Loudspeaker.Enabled {
		all = append(all, s.Mouth)
	}
	return all
}

// embeddedEars says what the recogniser is good for that comes with earshot, and what would be better:
// a model, where it would be used.
func embeddedEars(set engine.Hear) string {
	if _, err := helper.Find(helper.NeuralProgram); err != nil || set.Engine != engine.Auto {
		return "clean English only; for more, dictate into the console with another program"
	}
	return "clean English only; for more: earshot models get english"
}

// Voice looks for the devices, the helpers and the models.
func Voice(ctx context.Context, cfg *config.Config) VoiceFindings {
	var looks VoiceFindings
	var err error
	var g sync.WaitGroup
	g.Go(func() {
		looks.Ears, looks.Mouth, err = soundDevices(ctx, cfg.Providers.Microphone.Device, cfg.Outlets.Loudspeaker.Device)
	})
	var hear, say chosenEngine
	var turns, names string
	g.Go(func() {
		roles := SpeechRoles(ctx)
		models := neural.Open(slog.New(slog.DiscardHandler))
		turns = sensing(ctx, cfg.Speech, models)
		names = seeking(ctx, cfg.Speech.Spotters(nil, models, cfg.Executive.Name))
		hear = chooseEngine(ctx, cfg.Speech.Recognisers(nil, models), roles["hear"])
		say = chooseEngine(ctx, cfg.Speech.Voices(nil, models), roles["say"])
	})
	g.Wait()
	looks.Card = err == nil
	mends := !errors.Is(err, errors.ErrUnsupported) // by itself, such as a sound server that is still to start
	looks.Hears, looks.Speaks = mends && hear.MayWork(), mends && say.MayWork()
	if looks.HearsBy, looks.SpeaksBy = hear.by, say.by; names+turns != "" {
		looks.HearsBy = cmp.Or(hear.by, "the embedded recogniser") + names + turns
	}
	looks.Ears = without(looks.Ears, hear.Role)
	if looks.Ears.Works {
		by := embeddedEars(cfg.Speech.Hear)
		if hear.by != "" {
			by = "heard by " + hear.by
		}
		looks.Ears.Text += ": say \"" + cfg.Executive.Name + ", …\" (" + hear.explain(by) + names + turns + ")"
	}
	looks.Mouth = without(looks.Mouth, say.Role)
	if by := say.explain(say.by); looks.Mouth.Works && by != "" {
		looks.Mouth.Text += ": " + by
	}
	return looks
}

// sensing says what senses voices by their sound, or why nothing does; "" if only the words count.
func sensing(ctx context.Context, c engine.Config, models neural.Library) string {
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	s, wanted := c.Sensing(models)
	if !wanted {
		return ""
	}
	if err := s.Check(ctx); err != nil {
		return "; " + (chosenEngine{better: []error{err}}).explain("")
	}
	return "; that you have finished is told by your voice, too: " + s.Name
}

// seeking says what listens for the agent's name, or why nothing better does; "" if that comes with the
// program.
func seeking(ctx context.Context, engines []engine.Engine) string {
	is := chooseEngine(ctx, engines, Role{})
	by := ""
	if is.by != "" {
		by = "the name is also noticed by " + is.by
	}
	if says := is.explain(by); says != "" {
		return "; " + says
	}
	return ""
}

// A chosenEngine is what does one thing here.
type chosenEngine struct {
	Role
	by     string  // its name; empty if it comes with the program
	better []error // why engines before it do not do it
}

// chooseEngine returns the first engine that works; embedded is what the helper says of its own.
func chooseEngine(ctx context.Context, engines []engine.Engine, embedded Role) (is chosenEngine) {
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	for _, e := range engines {
		if e.IsEmbedded() {
			is.Role = embedded
			return is
		}
		err := e.Check(ctx)
		if err == nil {
			is.Role, is.by = Role{CheckResult: api.CheckResult{Works: true}}, e.Name
			if e.Why != "" {
				is.by += ", " + e.Why
			}
			if e.Elsewhere {
				is.by += ", to which everything goes that is said"
			}
			return is
		}
		is.Role = Role{CheckResult: api.CheckResult{Text: err.Error(), Cure: earshot.Cure(err)}, late: !errors.Is(err, errors.ErrUnsupported)}
		is.better = append(is.better, err)
	}
	return is
}

// explain adds to a text why no better engine does it, and what mends that.
func (c chosenEngine) explain(text string) string {
	for _, err := range c.better {
		text = strings.TrimPrefix(text+"; "+err.Error(), "; ")
		if cure := earshot.Cure(err); cure != "" {
			text += " (" + cure + ")"
		}
	}
	return text
}

// without returns device, or what keeps it from being of use.
func without(device api.CheckResult, role Role) api.CheckResult {
	if !device.Works || role.Works {
		return device
	}
	device.Works, device.Text, device.Cure = false, role.Text, role.Cure
	return device
}

// A Role is what the helper for speech can do here.
type Role struct {
	api.CheckResult
	late bool // it has not said so yet
}

// MayWork reports whether the role works, or may yet.
func (r Role) MayWork() bool { return r.Works || r.late }

// SpeechRoles asks the helper for speech which of its roles work here.
func SpeechRoles(ctx context.Context) map[string]Role {
	path, err := helper.Find(helper.SpeechProgram)
	if err != nil {
		return allRoles(Role{CheckResult: api.CheckResult{Text: err.Error(), Cure: earshot.Cure(err)}})
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	return askRoles(ctx, path)
}

// askRoles asks the helper at path.
func askRoles(ctx context.Context, path string) map[string]Role {
	var said []struct {
		Role string `json:"role"`
		api.CheckResult
	}
	if err := askHelper(ctx, path, &said); len(said) == 0 {
		return allRoles(Role{broken(ctx, api.CheckResult{}, helper.SpeechProgram, err), ctx.Err() != nil})
	}
	roles := make(map[string]Role)
	for _, s := range said {
		s.Thing = s.Role
		roles[s.Role] = Role{CheckResult: s.CheckResult}
	}
	return roles
}

// askHelper asks the helper at path what works on this machine.
func askHelper(ctx context.Context, path string, said any) error {
	out, err := helper.Ask(ctx, path, "check")
	return errors.Join(err, json.Unmarshal(out, said))
}

// broken says of f that its helper, asked with ctx, has said nothing that makes sense.
func broken(ctx context.Context, f api.CheckResult, program string, err error) api.CheckResult {
	if ctx.Err() != nil {
		return unanswered(f, program)
	}
	f.Text, f.Cure = fmt.Sprintf("%s does not work: %v", program, err), "run make build in the source of earshot"
	return f
}

// allRoles returns r for each role.
func allRoles(r Role) map[string]Role {
	roles := make(map[string]Role)
	for _, name := range []string{"hear", "say", "media"} {
		r.Thing = name
		roles[name] = r
	}
	return roles
}

// helperTimeout is how long the opening screen waits for the sound card and
// the helpers: loading their libraries from a cold disk takes seconds.
const helperTimeout = 5 * time.Second

// soundDevices looks for the devices that are to be used. The error is why there
// are none at all.
func soundDevices(ctx context.Context, microphone, loudspeaker string) (ears, mouth api.CheckResult, err error) {
	ears, mouth = api.CheckResult{Thing: "microphone"}, api.CheckResult{Thing: "loudspeaker"}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	devices, err := sound.List(ctx, helper.NewDialer(slog.New(slog.DiscardHandler), helper.SoundProgram))
	if err != nil {
		if ctx.Err() != nil {
			return unanswered(ears, helper.SoundProgram), unanswered(mouth, helper.SoundProgram), err
		}
		ears.Text, mouth.Text = err.Error(), err.Error()
		if f, ok := errors.AsType[*sound.Fault](err); ok {
			ears.Absent, mouth.Absent = f.Absent, f.Absent
		}
		ears.Cure, mouth.Cure = earshot.Cure(err), earshot.Cure(err)
		return ears, mouth, err
	}
	return findDevice(ears, microphone, devices.Inputs), findDevice(mouth, loudspeaker, devices.Outputs), nil
}

// unanswered says of f that its helper has said nothing yet. It may be well: a
// machine that has just started has other things to do.
func unanswered(f api.CheckResult, program string) api.CheckResult {
	f.Text, f.Cure = program+" has not answered yet: the machine is busy", "wait; earshot doctor looks again"
	return f
}

// findDevice looks for a device by its name, or for the default one.
func findDevice(f api.CheckResult, name string, list []sound.Device) api.CheckResult {
	for _, d := range list {
		if d.Name == name || name == "" && d.Default {
			f.Works, f.Text = true, d.Description
			if d.Description == "" {
				f.Text = d.Name
			}
			if d.Monitors != "" && f.Thing == "microphone" {
				f.Text += " (not a microphone: it captures what a loudspeaker plays)"
			}
			if d.Cleaned {
				f.Text += " (the sound server removes the echo)"
			}
			return f
		}
	}
	f.Absent, f.Text, f.Cure = true, "there is none", "connect one, then check: earshot devices"
	if name != "" {
		f.Absent, f.Text = false, fmt.Sprintf("%q is not there", name)
		f.Cure = "connect it, or choose another: earshot devices"
	}
	return f
}
