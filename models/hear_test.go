package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models"
	"earshot/models/stt"
)

// plain are sentences that the recogniser understands word for word from the voice slt.
var plain = []string{
	"how long will it take to get there",
	"what is the weather going to be like today",
	"i think we should go to the store after lunch",
}

func TestUnderstands(t *testing.T) {
	s, _ := mouth(t, "", 0)
	r, _ := ear(t, stt.Config{Names: []string{"Earshot"}})
	ready(t, r)
	for _, text := range append(plain, "earshot "+plain[0]) {
		pcm, _ := say(t, s, text)
		final, partials := understand(t, r, frames(pcm), nil)
		if string(final.Text) != text || final.Err != nil {
			t.Errorf("understood %q, %v; want %q", string(final.Text), final.Err, text)
		}
		if final.Confidence < 0.4 {
			t.Errorf("it is only %.2f sure of %q", final.Confidence, text)
		}
		if len(partials) < 3 {
			t.Errorf("it told %d partial results of %q", len(partials), text)
		}
	}
}

// TestUnderstandsItsName: the agent recognises its name in any voice, although the language model
// takes the name to be all but impossible; see what the helper does about that.
func TestUnderstandsItsName(t *testing.T) {
	for _, voice := range voices {
		t.Run(voice, func(t *testing.T) {
			s, _ := mouth(t, voice, 0)
			r, _ := ear(t, stt.Config{Names: []string{"earshot"}})
			ready(t, r)
			missed := 0
			for _, text := range []string{
				"earshot what time is it", "hey earshot stop", "earshot stop talking", "okay earshot what do you see",
				"thank you earshot", "earshot", "earshot remind me to call john", "earshot stop",
			} {
				pcm, _ := say(t, s, text)
				if final, _ := understand(t, r, frames(pcm), nil); !strings.Contains(string(final.Text), "earshot") {
					t.Logf("%q is understood as %q", text, string(final.Text))
					missed++
				}
			}
			if missed > 1 {
				t.Errorf("it missed %d of 8 calls", missed)
			}
		})
	}
}

// TestUnderstandsItsNames: names that are in no dictionary are learnt, and names that nobody can
// pronounce do no harm.
func TestUnderstandsItsNames(t *testing.T) {
	s, _ := mouth(t, "", 0)
	r, _ := ear(t, stt.Config{Names: []string{"Zorblax", "Ann Lee", "小明", "", "!?/(2)", "4711"}, Phrases: []string{"halt zorblax", "停", "/"}})
	ready(t, r)
	for _, text := range []string{"zorblax how long will it take to get there", "ann lee how long will it take to get there"} {
		pcm, _ := say(t, s, text)
		if final, _ := understand(t, r, frames(pcm), nil); string(final.Text) != text {
			t.Errorf("understood %q, %v; want %q", string(final.Text), final.Err, text)
		}
	}
}

// TestUnderstandsNothing: silence and noise do not become words with high confidence, and do not
// spoil what comes after them.
func TestUnderstandsNothing(t *testing.T) {
	s, _ := mouth(t, "", 0)
	r, _ := ear(t, stt.Config{})
	ready(t, r)
	hiss := make([]int16, 2*audio.Rate)
	noise := uint32(1)
	for i := range hiss {
		noise = noise*1664525 + 1013904223
		hiss[i] = int16(noise>>16) / 8
	}
	for range 5 {
		for _, pcm := range [][]int16{nil, make([]int16, audio.Rate), hiss} {
			if final, _ := understand(t, r, frames(pcm), nil); final.Confidence > 0.5 || final.Err != nil {
				t.Errorf("in noise it is %.2f sure of %q, %v", final.Confidence, string(final.Text), final.Err)
			}
		}
	}
	pcm, _ := say(t, s, plain[0])
	if final, _ := understand(t, r, frames(pcm), nil); string(final.Text) != plain[0] {
		t.Errorf("after noise it understands %q", string(final.Text))
	}
}

// TestEarKilled: if its helper is killed in mid-sentence, the recogniser still understands every
// word.
func TestEarKilled(t *testing.T) {
	s, _ := mouth(t, "", 0)
	r, h := ear(t, stt.Config{Names: []string{"earshot"}})
	ready(t, r)
	pcm, _ := say(t, s, plain[2])
	sound := frames(pcm)
	for n := range kills() {
		at := 1 + n*31%(len(sound)-2)
		got, _ := understand(t, r, sound, func(i int) {
			if i == at {
				h.kill()
			}
		})
		if got.Err != nil || string(got.Text) != plain[2] {
			t.Fatalf("killed at frame %d of %d it understands %q, %v; want %q", at, len(sound), string(got.Text), got.Err, plain[2])
		}
	}
}

// TestModelsThatAreNot: a missing or damaged model is reported at the start, with its cure.
func TestModelsThatAreNot(t *testing.T) {
	real, err := models.Find(models.Acoustic)
	if err != nil {
		speech(t) // skips the test if models are not required
		t.Fatal(err)
	}
	const install, again = "sudo apt-get install pocketsphinx-en-us", "sudo apt-get install --reinstall pocketsphinx-en-us"
	for _, tt := range []struct {
		name  string
		spoil string // the file to spoil
		with  string // its new content; "" removes it
		cure  string
	}{
		{"no sounds", "en-us/mdef", "", install},
		{"no words", "cmudict-en-us.dict", "", install},
		{"no language", "en-us.lm.bin", "", install},
		{"a dictionary that is none", "cmudict-en-us.dict", "\x00\x01\x02 not a dictionary\n", again},
		{"a language that is none", "en-us.lm.bin", "not a language model\n", again},
		{"sounds that are none", "en-us/means", "not sounds\n", again},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			spoiled(t, real, dir, tt.spoil, tt.with)
			h := speech(t, "hear", dir)
			err := stt.New(stt.Config{Dial: h.dial, Log: quiet}).Run(t.Context())
			f, ok := errors.AsType[*helper.FaultError](err)
			if !ok {
				t.Fatalf("it ended with %v", err)
			}
			if f.Cure() != tt.cure || errors.Is(err, errors.ErrUnsupported) != (tt.with == "") {
				t.Errorf("it says %q, with the cure %q", err, f.Cure())
			}
		})
	}
}

// spoiled fills dir with the model real, but for one file.
func spoiled(t *testing.T, real, dir, file, content string) {
	t.Helper()
	for _, m := range []models.Model{models.Acoustic, models.Language, models.Dictionary} {
		for _, name := range m.Files {
			path := filepath.Join(dir, name)
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			switch {
			case err != nil:
			case name != file:
				err = os.Symlink(filepath.Join(real, name), path)
			case content != "":
				err = os.WriteFile(path, []byte(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// phrases are what stops a voice.
var phrases = []string{"stop talking", "be quiet", "stop"}

// TestFindsPhrases: each call is noticed by at least one phrase, and nothing else is.
func TestFindsPhrases(t *testing.T) {
	s, _ := mouth(t, "", 0)
	finds := seeker(t)
	for _, tt := range []struct{ text, want string }{
		{"stop talking please", "stop"},
		{"please be quiet now", "be quiet"},
		{"stop", "stop"},
		{"earshot what time is it", "earshot"},
		{plain[0], ""},
		{plain[1], ""},
		{plain[2], ""},
	} {
		pcm, _ := say(t, s, tt.text)
		found := finds(frames(pcm))
		if tt.want == "" && len(found) > 0 || tt.want != "" && !slices.Contains(found, tt.want) {
			t.Errorf("in %q it found %q", tt.text, found)
		}
	}
}

// seeker returns a function that finds the phrases in a sound.
func seeker(t testing.TB) func([]*audio.Frame) []string {
	var mu sync.Mutex
	var found []stt.Phrase
	r, _ := ear(t, stt.Config{Names: []string{"Earshot"}, Phrases: phrases, On: func(p stt.Phrase) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, p)
	}})
	ready(t, r)
	known, _ := mouth(t, "", 0)
	pcm, _ := say(t, known, "be quiet")
	last := frames(pcm)
	began := time.Unix(2000, 0)
	return func(sound []*audio.Frame) (texts []string) {
		began = began.Add(time.Hour)
		end := began.Add(time.Duration(len(sound)) * audio.Time)
		at := began
		for i, f := range append(sound, last...) { // finding the last phrase shows that everything was heard
			g := *f
			g.At, at = at, at.Add(audio.Time)
			if r.Spot(&g); i%25 == 0 {
				understand(t, r, last[:1], nil) // waits until the helper has caught up
			}
		}
		testkit.Await(t, patience, "the last phrase", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(found, func(p stt.Phrase) bool { return p.At.After(end) })
		})
		mu.Lock()
		defer mu.Unlock()
		for _, p := range found {
			if p.At.Before(began) || p.At.After(at) {
				t.Errorf("a phrase was found at %v, not from %v to %v", p.At, began, at)
			}
			if p.At.Before(end) {
				texts = append(texts, string(p.Text))
			}
		}
		found = nil
		return texts
	}
}
