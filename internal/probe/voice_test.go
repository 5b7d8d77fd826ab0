package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/api"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/models/engine"
	"earshot/models/neural"
)

// TestRoles: what the speech helper reports about itself is passed on. A helper that is merely slow
// counts as one that may work.
func TestRoles(t *testing.T) {
	for _, tt := range []struct {
		name, does string
		may        bool
		text       string // the finding about hearing
	}{
		{"well", `echo '[{"role":"hear","works":true,"text":"en-us"},{"role":"say","works":true}]'`, true, "en-us"},
		{"without a model", `echo '[{"role":"hear","works":false,"text":"no model"}]'`, false, "no model"},
		{"broken", "exit 3", false, "does not work"},
		{"no JSON", "echo hello", false, "does not work"},
		{"slow", "exec sleep 60", true, "has not answered yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), helper.SpeechProgram)
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.does+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			patience := 3 * time.Minute
			if tt.name == "slow" {
				patience = 200 * time.Millisecond
			}
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			hear := askRoles(ctx, path)["hear"]
			if hear.MayWork() != tt.may || !strings.Contains(hear.Text, tt.text) {
				t.Errorf("hearing may work: %v, and is said to be %q; want %v, %q", hear.MayWork(), hear.Text, tt.may, tt.text)
			}
		})
	}
}

// TestSoundThatIsSlow: the findings say that the sound helper has not answered yet.
func TestSoundThatIsSlow(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, helper.SoundProgram), []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	ears, mouth, err := soundDevices(ctx, "", "")
	for _, f := range []api.CheckResult{ears, mouth} {
		if err == nil || f.Works || f.Text != "earshot-sound has not answered yet: the machine is busy" || f.Cure == "" {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// TestFindDevice: a missing device is a fault only if the configuration names it.
func TestFindDevice(t *testing.T) {
	yeti := []sound.Device{{Name: "Yeti", Default: true}}
	for _, tt := range []struct {
		name string
		list []sound.Device
		want api.CheckResult
	}{
		{"", nil, api.CheckResult{Absent: true, Text: "there is none", Cure: "connect one, then check: earshot devices"}},
		{"Yeti", nil, api.CheckResult{Text: `"Yeti" is not there`, Cure: "connect it, or choose another: earshot devices"}},
		{"", yeti, api.CheckResult{Works: true, Text: "Yeti"}},
	} {
		if got := findDevice(api.CheckResult{}, tt.name, tt.list); got != tt.want {
			t.Errorf("%q of %v: %+v, want %+v", tt.name, tt.list, got, tt.want)
		}
	}
}

// TestChooseEngine: the first engine that works is used, and people are told why a better one is not,
// and where what they say goes.
func TestChooseEngine(t *testing.T) {
	well := func(context.Context) error { return nil }
	away := func(context.Context) error { return errors.New("no server answers at a") }
	wrong := func(context.Context) error { return fmt.Errorf("it is no recogniser: %w", errors.ErrUnsupported) }
	slow := func(context.Context) error { return neural.TooSlow("a", neural.Result{Speed: 0.7}) }
	works := Role{CheckResult: api.CheckResult{Works: true}}
	missing := Role{CheckResult: api.CheckResult{Text: "no model", Cure: "install one"}}
	embedded := engine.Engine{Name: "embedded"}
	for _, tt := range []struct {
		name     string
		engines  []engine.Engine
		embedded Role
		works    bool
		may      bool
		says     string
	}{
		{"embedded", []engine.Engine{embedded}, works, true, true, "here"},
		{"server", []engine.Engine{{Name: "a", Check: well}, embedded}, missing, true, true, "by a"},
		{"model", []engine.Engine{{Name: "a", Why: "the best", Check: well}, embedded}, missing, true, true, "by a, the best"},
		{"slow model", []engine.Engine{{Name: "a", Check: slow}, embedded}, works, true, true, "here; the model a is too slow for this machine: 0.7 seconds for a second of sound (install a smaller one; to use it all the same, name it in the configuration)"},
		{"elsewhere", []engine.Engine{{Name: "a", Check: well, Elsewhere: true}}, missing, true, true, "by a, to which everything goes that is said"},
		{"server away", []engine.Engine{{Name: "a", Check: away}, embedded}, works, true, true, "here; no server answers at a"},
		{"nothing else", []engine.Engine{{Name: "a", Check: away}}, works, false, true, ""},
		{"wrong server", []engine.Engine{{Name: "a", Check: wrong}}, works, false, false, ""},
		{"nothing", []engine.Engine{{Name: "a", Check: away}, embedded}, missing, false, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := chooseEngine(t.Context(), tt.engines, tt.embedded)
			by := "here"
			if is.by != "" {
				by = "by " + is.by
			}
			if is.Works != tt.works || is.MayWork() != tt.may || tt.works && is.explain(by) != tt.says || !tt.works && is.Text == "" {
				t.Errorf("%+v says %q", is, is.explain(by))
			}
		})
	}
}

// TestSensing: it is said what listens to voices, or what keeps it from that.
func TestSensing(t *testing.T) {
	library := neural.Library{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	for how, want := range map[string]string{
		engine.Auto:     "",
		engine.Embedded: "",
		engine.Neural:   "; no model is installed that tells by the sound when somebody has finished (earshot models get smart-turn; or set speech.turn.engine: auto)",
	} {
		c := engine.DefaultConfig()
		c.Turn.Engine = how
		if got := sensing(t.Context(), c, library); got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
}

// TestSeeking: it is said what listens for the name, if that is not what comes with the program, or what
// keeps it from that.
func TestSeeking(t *testing.T) {
	well := func(context.Context) error { return nil }
	away := func(context.Context) error { return errors.New("no speech server answers at b") }
	embedded := engine.Engine{Name: "embedded"}
	for want, engines := range map[string][]engine.Engine{
		"": {embedded},
		"; the name is also noticed by a, the best": {{Name: "a", Why: "the best", Check: well}, embedded},
		"; no speech server answers at b":           {{Name: "b", Check: away}, embedded},
		"; the name is also noticed by a, to which everything goes that is said; no speech server answers at b": {{Name: "b", Check: away}, {Name: "a", Check: well, Elsewhere: true}, embedded},
	} {
		if got := seeking(t.Context(), engines); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEmbeddedEars: the command that installs a better recogniser is said where that would be used.
func TestEmbeddedEars(t *testing.T) {
	const command = "earshot models get english"
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	set := engine.DefaultConfig().Hear
	if says := embeddedEars(set); strings.Contains(says, command) {
		t.Errorf("without the program that runs models: %s", says)
	}
	if err := os.WriteFile(filepath.Join(dir, helper.NeuralProgram), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if says := embeddedEars(set); !strings.Contains(says, command) {
		t.Error(says)
	}
	set.Engine = engine.Embedded
	if says := embeddedEars(set); strings.Contains(says, command) {
		t.Errorf("for who wants the embedded one: %s", says)
	}
}
