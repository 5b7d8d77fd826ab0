package main

import (
	"errors"
	"os"
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

// TestNeural: with a set of models that is installed, and nothing configured, earshot hears by it, and
// says so. If a file of it is damaged, it hears by what comes with it, and says what mends the set.
func TestNeural(t *testing.T) {
	t.Parallel()
	helpertest.Build(t, helper.NeuralProgram)
	p := newParlour(t)
	set := filepath.Join(p.dir, "data/earshot/models/sets/tones")
	if err := errors.Join(modeltest.WriteCTC(set), modeltest.Describe(set, catalog.Hear, catalog.NemoCTC)); err != nil {
		t.Fatal(err)
	}
	p.scripted(talker)
	doctor := func(says string) {
		t.Helper()
		testkit.Await(t, soon, "doctor to say "+says, func() bool { // what is busy may not answer it in time
			return strings.Contains(strings.Join(strings.Fields(p.earshot(nil, "doctor").out), " "), says)
		})
	}
	doctor("heard by the model tones, the best that is installed for en")
	d := p.wakes()
	if out := p.earshot(nil, "status").out; !strings.Contains(out, "microphone: by the model tones, the best that is installed for en\n") {
		t.Errorf("status says\n%s", out)
	}
	p.sounds(slices.Concat(hush(300), modeltest.Tones("one three two four"), hush(1500)))
	if said := p.heard(1); said[0].Text != "one three two four" {
		t.Errorf("it heard %q", string(said[0].Text))
	}
	d.end(syscall.SIGINT)

	if err := os.WriteFile(filepath.Join(set, "model.onnx"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	doctor("the model tones cannot be used: its file model.onnx has 0 bytes instead of ")
	doctor("(fetch it again: earshot models get tones)")
	p.wakes()
	testkit.Await(t, soon, "the notice that the model does not work", func() bool {
		return strings.Contains(p.earshot(nil, "status").out+p.log(), "tones does not work")
	})
	p.sounds(slices.Concat(hush(300), bob.sound(t, "earshot, what time is it"), hush(1500)))
	p.heard(2)
}
