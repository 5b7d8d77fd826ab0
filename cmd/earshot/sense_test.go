package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
)

// TestSensing: models that are installed listen to voices, beside one that recognises, and doctor says
// so; what is said is heard.
func TestSensing(t *testing.T) {
	t.Parallel()
	helpertest.Build(t, helper.NeuralProgram)
	p := newParlour(t)
	sets := filepath.Join(p.dir, "data/earshot/models/sets")
	tones, silero, turn := filepath.Join(sets, "tones"), filepath.Join(sets, "silero"), filepath.Join(sets, "smart-turn")
	if err := errors.Join(
		modeltest.WriteCTC(tones), modeltest.Describe(tones, catalog.Hear, catalog.NemoCTC),
		modeltest.WriteSilero(silero, false), modeltest.Describe(silero, catalog.VAD, catalog.Silero),
		modeltest.WriteSmartTurn(turn), modeltest.Describe(turn, catalog.Turn, catalog.SmartTurn),
	); err != nil {
		t.Fatal(err)
	}
	p.scripted(talker)
	says := "that you have finished is told by your voice, too: silero and smart-turn"
	testkit.Await(t, soon, "doctor to say "+says, func() bool { // what is busy may not answer it in time
		return strings.Contains(strings.Join(strings.Fields(p.earshot(nil, "doctor").out), " "), says)
	})
	d := p.wakes()
	p.sounds(slices.Concat(hush(300), modeltest.Tones("one three two four"), hush(1500)))
	if said := p.heard(1); said[0].Text != "one three two four" {
		t.Errorf("it heard %q", string(said[0].Text))
	}
	if out := p.earshot(nil, "status").out; strings.Contains(out, "sensing of voices") {
		t.Errorf("status says\n%s", out)
	}
	d.end(syscall.SIGINT)
}
