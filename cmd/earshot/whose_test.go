package main

import (
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/testkit"
	"earshot/models/voiceprint"
	"earshot/speakers"
)

// TestWhoseVoice: three people who each say something different every time are told apart from
// their second sentence on, and no sentence is attributed to the wrong person. A recording of a
// kept voice, played again, is attributed to nobody.
func TestWhoseVoice(t *testing.T) {
	testkit.Need(t, "voice")
	t.Parallel()
	book, err := speakers.Open(t.TempDir(), speakers.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	handles := make(map[person]earshot.Handle)
	var last earshot.Voice
	for round, text := range []string{
		"the tide is rising in the harbour tonight", "shall we have lunch together at the little place",
		"I have never seen so many birds on one roof", "please close the window before the rain comes in",
		"he said that the train would be late again today", "my brother plays the piano every single morning",
	} {
		for _, who := range []person{ann, bob, eve} {
			v, ok := voiceOf(who.sound(t, text))
			if !ok {
				t.Fatalf("%s said nothing", who)
			}
			now = now.Add(10 * time.Second)
			j := book.Whose(&v, now)
			switch {
			case round == 0 && !j.New:
				t.Errorf("%s, whom nobody knows, is %+v", who, j)
			case round == 0:
				handles[who] = j.Speaker
			case j.Speaker != handles[who] || j.New:
				t.Errorf("%s is %+v in round %d, and was %v", who, j, round, handles[who])
			}
			if who == eve {
				last = v
			}
		}
	}
	if _, err := book.Enrol("eve", speakers.Attestation{By: "eve", At: now}, handles[eve]); err != nil {
		t.Error(err)
	}
	if j := book.Whose(&last, now.Add(time.Minute)); !j.Again || j.Speaker.ID != "" {
		t.Errorf("what was played again is %+v", j)
	}
}

// voiceOf returns the voice in a piece of sound.
func voiceOf(pcm []int16) (earshot.Voice, bool) {
	ear := voiceprint.New()
	var f audio.Frame
	for ; len(pcm) >= len(f.PCM); pcm = pcm[len(f.PCM):] {
		copy(f.PCM[:], pcm)
		f.Voiced = audio.Level(f.PCM[:]) > -45
		ear.Step(&f)
	}
	return ear.Voice("microphone:default")
}
