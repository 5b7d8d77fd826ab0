package models_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/tts"
)

// voices are the voices that are linked in.
var voices = []string{"slt", "rms", "awb", "kal16"}

// TestSays: each voice says each word, in order, where it says it does.
func TestSays(t *testing.T) {
	const text = "hello there, it is half past 10 on the 3rd of May"
	for _, name := range voices {
		t.Run(name, func(t *testing.T) {
			s, _ := mouth(t, name, 0)
			pcm, words := say(t, s, text)
			if n := time.Duration(len(pcm)) * time.Second / audio.Rate; n < 2*time.Second || n > 8*time.Second {
				t.Errorf("it lasts %v", n)
			}
			var got []string
			for _, w := range words {
				if w.Sample >= len(pcm) {
					t.Errorf("%+v begins behind the end", w)
				}
				rest := text[w.Byte:]
				got = append(got, rest[:strings.IndexAny(rest+" ", " ,")])
			}
			if want := strings.Fields(strings.ReplaceAll(text, ",", "")); !slices.Equal(got, want) {
				t.Errorf("it marks %q, want %q", got, want)
			}
			// The comma makes a pause: the sound just before the third word is softer than that
			// word.
			third := words[2].Sample
			if before, in := audio.Level(pcm[third-audio.Rate/20:third]), audio.Level(pcm[third:third+audio.Rate/10]); before > in-10 {
				t.Errorf("%.0f dB before the third word and %.0f dB in it", before, in)
			}
		})
	}
}

func TestSpeed(t *testing.T) {
	const text = "this is said at another speed"
	normal, _ := mouth(t, "slt", 1)
	fast, _ := mouth(t, "slt", 2)
	a, _ := say(t, normal, text)
	b, _ := say(t, fast, text)
	if ratio := float64(len(a)) / float64(len(b)); ratio < 1.7 || ratio > 2.3 {
		t.Errorf("it is %.2f times as fast, want 2", ratio)
	}
}

// TestSaysAnything: no text kills the helper.
func TestSaysAnything(t *testing.T) {
	s, r := mouth(t, "", 0)
	say(t, s, "hello")
	first := r.process()
	for _, text := range []string{
		"", " ", "...", "?!", "\x00\x00", "a\x00b", "\n\t\r", "日本語 мир 🙂", "\xff\xfe\x80", "%s%n%d", "<speak>x</speak>",
		"https://example.com/a?b=c&d=e", "1234567890123456789012345678901234567890", "$5.99 3:30pm 10^23 -0.5e-7",
		strings.Repeat("a", 2000), strings.Repeat("9", 500), strings.Repeat("'", 300), strings.Repeat("(", 300) + "x" + strings.Repeat(")", 300),
		"Dr. Smith's St. Ives No. 5 IV XIV a.m.", strings.Repeat("x-", 500), `"\"'` + "`",
	} {
		if pcm, _ := say(t, s, text); len(pcm) > 300*audio.Rate {
			t.Errorf("%.20q lasts %d samples", text, len(pcm))
		}
	}
	if r.process() != first {
		t.Error("the helper died")
	}
}

// TestSaysAtLength: a text of any length begins at once, and can be left.
func TestSaysAtLength(t *testing.T) {
	s, r := mouth(t, "", 0)
	say(t, s, "hello")
	first := r.process()
	const clause = "many words make a long text, "
	last := tts.Word{}
	for c, err := range s.Say(t.Context(), strings.Repeat(clause, earshot.MaxText/len(clause))) {
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.Words {
			if w.Byte <= last.Byte && last.Byte > 0 || w.Sample < last.Sample || w.Byte%len(clause) > 0 && clause[w.Byte%len(clause)-1] != ' ' {
				t.Errorf("%+v follows %+v", w, last)
			}
			last = w
		}
		if last.Byte > 1000 {
			break
		}
	}
	if pcm, _ := say(t, s, "hello"); len(pcm) == 0 || r.process() != first {
		t.Error("the helper did not get over it")
	}
}

// TestVoiceThatIsNot: a wrong setting ends the voice with a lasting fault.
func TestVoiceThatIsNot(t *testing.T) {
	r := speech(t, "say")
	for _, cfg := range []tts.Config{{Voice: "nobody"}, {Speed: 100}, {Speed: -1}} {
		cfg.Dial, cfg.Log = r.dial, quiet
		err := tts.New(cfg).Run(t.Context())
		if _, ok := errors.AsType[*helper.FaultError](err); !ok || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v ended with %v", cfg.Speed, err)
		}
	}
}

// TestVoiceKilled: if its helper is killed in the middle of a text, the voice goes on where it was.
func TestVoiceKilled(t *testing.T) {
	s, r := mouth(t, "", 0)
	const text = "this sentence is said by many voices, one after the other, and nobody hears where the next one begins"
	want, words := say(t, s, text)
	for n := range kills() {
		var got []int16
		var marks []tts.Word
		for c, err := range s.Say(t.Context(), text) {
			if err != nil {
				t.Fatal(err)
			}
			before := len(got)
			got, marks = append(got, c.PCM...), append(marks, c.Words...)
			if at := (n*7919 + 1600) % len(want); before < at && at <= len(got) {
				r.kill()
			}
		}
		// The breath in the voice never sounds the same twice; all else does.
		if len(got) != len(want) || !slices.Equal(marks, words) {
			t.Fatalf("kill %d: %d samples and %d words came, want %d and %d", n, len(got), len(marks), len(want), len(words))
		}
	}
}

// kills returns how often a test kills a helper.
func kills() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 100
	}
	return 10
}
