package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/catalog"
	"earshot/models/modeltest"
)

// TestNeuralVoice: with a voice that is installed, and nothing configured, earshot speaks by it, and
// says so. What it says is on record as heard.
func TestNeuralVoice(t *testing.T) {
	t.Parallel()
	helpertest.Build(t, helper.NeuralProgram)
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
	set := filepath.Join(p.dir, "data/earshot/models/sets/tones")
	if err := errors.Join(modeltest.WriteKokoro(set), modeltest.Describe(set, catalog.Say, catalog.Kokoro)); err != nil {
		t.Fatal(err)
	}
	p.scripted(talker)
	if out := p.earshot(nil, "doctor").out; !strings.Contains(strings.Join(strings.Fields(out), " "), "the model tones, the best that is installed for en") {
		t.Errorf("doctor does not say by what it speaks:\n%s", out)
	}
	p.wakes()
	recording := p.records()
	p.post("how is the weather")
	p.speaking(recording, 500)
	p.answered(nil)
	if r := p.replied(1)[0]; r.Delivered() != r.Offered || r.Offered == "" {
		t.Errorf("of %q there was %q heard", string(r.Offered), string(r.Delivered()))
	}
}
