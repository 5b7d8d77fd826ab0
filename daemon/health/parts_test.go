package health

import (
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/internal/metrics"
	"earshot/internal/probe"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestVitals: the state of parts follows from what they report, and so do the obstacles to the
// daemon's work.
func TestVitals(t *testing.T) {
	answers := func(v *Parts) { v.NoteStep(llm.Step{Called: "ollama", Kind: llm.Answered}) }
	gives := func(v *Parts, name string, f llm.Fault) {
		v.NoteStep(llm.Step{Called: name, Kind: llm.GaveUp, Err: &llm.Error{Fault: f, Cure: "ollama serve"}})
	}
	lost := func(v *Parts, key string) { v.NoteNotice(earshot.Notice{Key: key, Text: key + " was lost"}) }
	back := func(v *Parts, key string) { v.NoteNotice(earshot.Notice{Key: key, Text: key + " is back", Over: true}) }
	for _, tt := range []struct {
		name      string
		does      func(*Parts)
		parts     string // ! before those that are not well
		obstacles string
	}{
		{"nothing is set up", func(v *Parts) {}, "", "model"},
		{"a model answers", answers, "ollama", ""},
		{"it fails", func(v *Parts) { answers(v); gives(v, "ollama", llm.Unreachable) }, "!ollama", "ollama"},
		{"it is well again", func(v *Parts) { gives(v, "ollama", llm.Unreachable); answers(v) }, "ollama", ""},
		{"another answers", func(v *Parts) { answers(v); gives(v, "cloud", llm.Refused) }, "ollama !cloud", ""},
		{"a prompt is too long", func(v *Parts) { answers(v); gives(v, "ollama", llm.TooLong) }, "ollama", ""},
		{"a microphone is lost", func(v *Parts) {
			answers(v)
			v.NoteFinding(api.CheckResult{Thing: "microphone", Works: true})
			lost(v, "microphone")
		}, "ollama !microphone", "microphone"},
		{"and is back", func(v *Parts) {
			answers(v)
			v.NoteFinding(api.CheckResult{Thing: "microphone", Works: true, Text: "built in"})
			lost(v, "microphone")
			back(v, "microphone")
		}, "ollama microphone", ""},
		{"a disk is full", func(v *Parts) {
			answers(v)
			v.NoteFinding(api.CheckResult{Thing: "journal", Works: true})
			lost(v, "store.full")
		}, "ollama !journal", "journal"},
		{"what nobody knows of", func(v *Parts) { answers(v); lost(v, "recognition"); back(v, "recognition") }, "ollama", ""},
		{"while it is lost", func(v *Parts) { answers(v); lost(v, "recognition") }, "ollama !recognition", "recognition"},
		{"what is no part", func(v *Parts) { answers(v); lost(v, "context") }, "ollama", ""},
		{"a camera with a name", func(v *Parts) {
			answers(v)
			v.NoteFinding(api.CheckResult{Thing: earshot.CameraCalled("door"), Text: "is not there"})
		}, "ollama !" + earshot.CameraCalled("door"), earshot.CameraCalled("door")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := new(Parts)
			tt.does(v)
			var parts, wrong []string
			for _, p := range v.List() {
				sign := ""
				if !p.Well {
					sign = "!"
				}
				parts = append(parts, sign+p.Name)
				if p.Since.IsZero() || p.Kind == "" || p.Well && p.Cure != "" {
					t.Errorf("it is %+v", p)
				}
			}
			for _, o := range Obstacles(v.List()) {
				wrong = append(wrong, o.Part)
			}
			if got := strings.Join(parts, " "); got != tt.parts {
				t.Errorf("the parts are %s, want %s", got, tt.parts)
			}
			if got := strings.Join(wrong, " "); got != tt.obstacles {
				t.Errorf("in the way is %s, want %s", got, tt.obstacles)
			}
		})
	}
}

// TestHosts: each host of an engine is a part, and it is counted under its number.
func TestHosts(t *testing.T) {
	v := &Parts{Counts: metrics.New("1", metrics.Lists{Parts: Counted()}, nil)}
	list := []llm.EngineConfig{{Name: "big", Host: "a"}, {Name: "small"}, {Name: "big", Host: "b"}}
	v.SetEngines([]llm.Engine{&llmtest.Script{}, &llmtest.Script{}, &llmtest.Script{}}, list)
	parts := func(want string) {
		t.Helper()
		var all []string
		for _, p := range v.List() {
			all = append(all, map[bool]string{false: "!"}[p.Well]+p.Name)
		}
		if got := strings.Join(all, "; "); got != want {
			t.Errorf("the parts are %s, want %s", got, want)
		}
	}
	parts("big, host 1; small; big, host 2")
	v.NoteStep(llm.Step{Called: "big, host 2", Kind: llm.Rerouted, Err: &llm.Error{Fault: llm.Unreachable}})
	v.NoteStep(llm.Step{Engine: "big", Kind: llm.Onward, Err: &llm.Error{Fault: llm.Busy}}) // which no host is to blame for
	parts("big, host 1; small; !big, host 2")
	if len(Obstacles(v.List())) != 0 {
		t.Errorf("in the way is %+v", Obstacles(v.List()))
	}
	v.SetEngines([]llm.Engine{&llmtest.Script{}, &llmtest.Script{}}, list[1:]) // it has become the only host
	parts("small; !big")
	v.NoteEngine(probe.Engine{Name: "big", CheckResult: api.CheckResult{Works: true}, Config: list[2]})
	parts("small; big")
	counts, err := v.Counts.Values()
	if err != nil || counts["outages_total host-2"] != 1 || counts["outages_total engine"] != 0 {
		t.Errorf("counted %v, %v", counts, err)
	}
}

// TestWhatWorks: a part with a known fault is not listed as working.
func TestWhatWorks(t *testing.T) {
	v := new(Parts)
	works := func(want string) {
		t.Helper()
		if got := strings.Join(v.Working([]string{"journal", "console"}), ", "); got != want {
			t.Errorf("%s works, want %s", got, want)
		}
	}
	v.NoteEngine(probe.Engine{CheckResult: api.CheckResult{Thing: "model", Works: true, Text: "small on ollama"}, Config: llm.EngineConfig{Name: "ollama"}})
	v.NoteFinding(api.CheckResult{Thing: "journal", Works: true})
	works("small on ollama, journal, console")
	v.NoteNotice(earshot.Notice{Key: "store.full", Text: "the disk is full"})
	works("small on ollama, console")
	v.NoteStep(llm.Step{Called: "ollama", Kind: llm.GaveUp, Err: &llm.Error{Fault: llm.Unreachable}})
	works("console")
	v.NoteStep(llm.Step{Called: "ollama", Kind: llm.Answered})
	v.NoteNotice(earshot.Notice{Key: "store.full", Over: true})
	works("small on ollama, journal, console")
	v.NoteBy("console", "a typewriter")
	works("small on ollama, journal, console: by a typewriter")
	v.NoteBy("console", "")
	works("small on ollama, journal, console")
}

// TestPartsThatAreCounted: each part is counted under a name that says nothing about anybody.
func TestPartsThatAreCounted(t *testing.T) {
	known := fmt.Sprint(Counted())
	for _, name := range []string{"microphone", "loudspeaker", "discord", "journal", "sound card", earshot.CameraCalled(""), earshot.CameraCalled("ann's room")} {
		if !strings.Contains(known, label(name)) {
			t.Errorf("%s is counted under %s, which is not in the list", name, label(name))
		}
		if kind, ok := kindOf(name); !ok || kind == "" {
			t.Errorf("%s is no part", name)
		}
	}
	if kind, _ := kindOf("discord"); kind != api.Sense {
		t.Errorf("discord is a %s", kind)
	}
}
