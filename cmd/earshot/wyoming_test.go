package main

import (
	"slices"
	"strings"
	"testing"

	"earshot/internal/testkit"
	"earshot/models/modeltest"
	"earshot/models/wyoming/wyomingtest"
)

// TestWyoming: with the addresses of Home Assistant's two servers earshot hears and speaks by them,
// and says so. When the voice goes away, the embedded one speaks until it is back, which people are
// told once.
func TestWyoming(t *testing.T) {
	t.Parallel()
	ears, voice := wyomingtest.StartRecogniser(t), wyomingtest.StartVoice(t)
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true",
		"EARSHOT_SPEECH_HEAR_WYOMING_ADDRESS="+string(ears.Address), "EARSHOT_SPEECH_SAY_WYOMING_ADDRESS="+string(voice.Address))
	p.scripted(talker)
	p.wakes()
	doctor := p.earshot(nil, "doctor").out
	for _, says := range []string{"heard by the Wyoming server at " + string(ears.Address), "the Wyoming server at " + string(voice.Address)} {
		if !strings.Contains(doctor, says) {
			t.Errorf("doctor does not say %q:\n%s", says, doctor)
		}
	}
	recording := p.records()
	p.post("how is the weather")
	p.speaking(recording, 500)
	p.answered(nil)

	p.sounds(slices.Concat(hush(300), modeltest.Tones("one three two four"), hush(1500)))
	if said := p.heard(1); said[0].Text != "one three two four" {
		t.Errorf("it heard %q", string(said[0].Text))
	}

	voice.Stop()
	before := loud(recording.PCM(0))
	testkit.Await(t, soon, "the embedded voice to speak", func() bool {
		p.post("how is the weather")
		return testkit.Poll(testkit.Patience/4, func() bool { return loud(recording.PCM(0)) > before+rate/2 })
	})
	voice.Restart()
}
