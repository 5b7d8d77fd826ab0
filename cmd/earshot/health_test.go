package main

import (
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/internal/probe"
	"earshot/llm"
)

// TestVitals: how parts are follows from what they report, and so does whether the house
// can do its work.
func TestVitals(t *testing.T) {
	answers := func(v *health) { v.climbed(llm.Step{Called: "ollama", Rung: llm.Answered}) }
	gives := func(v *health, name string, f llm.Fault) {
		v.climbed(llm.Step{Called: name, Rung: llm.GaveUp, Err: &llm.Error{Fault: f, Cure: "ollama serve"}})
	}
	lost := func(v *health, key string) { v.noticed(earshot.Notice{Key: key, Text: key + " was lost"}) }
	back := func(v *health, key string) { v.noticed(earshot.Notice{Key: key, Text: key + " is back", Over: true}) }
	for _, tt := range []struct {
		name      string
		does      func(*health)
		parts     string // ! before those that are not well
		obstacles string
	}{
		{"nothing is set up", func(v *health) {}, "", "model"},
		{"a model answers", answers, "ollama", ""},
		{"it fails", func(v *health) { answers(v); gives(v, "ollama", llm.Unreachable) }, "!ollama", "ollama"},
		{"it is well again", func(v *health) { gives(v, "ollama", llm.Unreachable); answers(v) }, "ollama", ""},
		{"another answers", func(v *health) { answers(v); gives(v, "cloud", llm.Refused) }, "ollama !cloud", ""},
		{"a prompt is too long", func(v *health) { answers(v); gives(v, "ollama", llm.TooLong) }, "ollama", ""},
		{"a microphone is lost", func(v *health) {
			answers(v)
			v.found(probe.Finding{Thing: "microphone", Works: true})
			lost(v, "microphone")
		}, "ollama !microphone", "microphone"},
		{"and is back", func(v *health) {
			answers(v)
			v.found(probe.Finding{Thing: "microphone", Works: true, Text: "built in"})
			lost(v, "microphone")
			back(v, "microphone")
		}, "ollama microphone", ""},
		{"a disk is full", func(v *health) {
			answers(v)
			v.found(probe.Finding{Thing: "journal", Works: true})
			lost(v, "store.full")
		}, "ollama !journal", "journal"},
		{"what nobody knows of", func(v *health) { answers(v); lost(v, "recognition"); back(v, "recognition") }, "ollama", ""},
		{"while it is lost", func(v *health) { answers(v); lost(v, "recognition") }, "ollama !recognition", "recognition"},
		{"what is no part", func(v *health) { answers(v); lost(v, "context") }, "ollama", ""},
		{"a camera with a name", func(v *health) {
			answers(v)
			v.found(probe.Finding{Thing: earshot.CameraCalled("door"), Text: "is not there"})
		}, "ollama !" + earshot.CameraCalled("door"), earshot.CameraCalled("door")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := new(health)
			tt.does(v)
			var parts, wrong []string
			for _, p := range v.parts() {
				sign := ""
				if !p.Well {
					sign = "!"
				}
				parts = append(parts, sign+p.Name)
				if p.Since.IsZero() || p.Kind == "" || p.Well && p.Cure != "" {
					t.Errorf("it is %+v", p)
				}
			}
			for _, o := range obstacles(v.parts()) {
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

// TestWhatWorks: nothing is said to work of which it is known that it does not.
func TestWhatWorks(t *testing.T) {
	v := new(health)
	works := func(want string) {
		t.Helper()
		if got := strings.Join(v.working([]string{"journal", "console"}), ", "); got != want {
			t.Errorf("%s works, want %s", got, want)
		}
	}
	v.looked(probe.Engine{Finding: probe.Finding{Thing: "model", Works: true, Text: "small on ollama"}, Config: llm.EngineConfig{Name: "ollama"}})
	v.found(probe.Finding{Thing: "journal", Works: true})
	works("small on ollama, journal, console")
	v.noticed(earshot.Notice{Key: "store.full", Text: "the disk is full"})
	works("small on ollama, console")
	v.climbed(llm.Step{Called: "ollama", Rung: llm.GaveUp, Err: &llm.Error{Fault: llm.Unreachable}})
	works("console")
	v.climbed(llm.Step{Called: "ollama", Rung: llm.Answered})
	v.noticed(earshot.Notice{Key: "store.full", Over: true})
	works("small on ollama, journal, console")
}

// TestPartsThatAreCounted: each part is counted under a name that says nothing of anybody.
func TestPartsThatAreCounted(t *testing.T) {
	known := fmt.Sprint(counted())
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
