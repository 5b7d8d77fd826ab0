package hear_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/models/hear"
)

// TestSound: what the sound says makes the words' patience shorter or longer.
func TestSound(t *testing.T) {
	unheard := math.NaN()
	for _, tt := range []struct {
		name, words    string
		changed, chunk int // ms
		turn           float64
		want           int // ms
	}{
		{"finished", "what time is it", 0, 0, 0.9, 220},
		{"finished, and it is not known yet", "what time is it", 0, 0, hear.Undecided, 300},
		{"finished, but the voice goes on", "what time is it", 0, 0, 0.1, 860},
		{"finished by a late word, and over", "what time is it", 200, 0, 0.9, 360},
		{"unclear, and over", "i went there", 0, 0, 0.9, 300},
		{"unclear", "i went there", 0, 0, hear.Undecided, 860},
		{"unclear, and the voice goes on", "i went there", 0, 0, 0.1, 1450},
		{"no words, and over", "", 0, 0, 0.9, 300},
		{"no words, and nobody listens", "", 0, 0, unheard, 860},
		{"no words, and the voice goes on", "", 0, 0, 0.1, 1450},
		{"open, and over", "tell me about the", 0, 0, 0.9, 580},
		{"open, and the voice goes on", "tell me about the", 0, 0, 0.1, 2000},
		{"dictated, and over", "my number is oh two", 0, 0, 0.9, 900},
		{"dictated, and the voice goes on", "my number is oh two", 0, 0, 0.1, 3000},
		{"a wish for time, and over", "hold on", 0, 0, 0.9, 4000},

		{"chunks: finished, but more may come", "what time is it", -600, 1280, unheard, 860},
		{"chunks: the same, and over", "what time is it", -600, 1280, 0.9, 300},
		{"short chunks: more may come soon", "what time is it", -100, 320, unheard, 320},
		{"chunks: finished, and all is known", "what time is it", 270, 1280, unheard, 220},
		{"chunks: finished by a late word", "what time is it", 700, 1280, unheard, 860},
		{"chunks: open, but more may come", "tell me about the", -600, 1280, unheard, 900},
		{"chunks: dictated", "my number is oh two", -600, 1280, unheard, 2000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
			got := hear.DefaultConfig().Patience(hear.Evidence{Words: tt.words, Changed: ms(tt.changed), Lag: ms(tt.chunk), Turn: tt.turn})
			if got != ms(tt.want) {
				t.Errorf("patience is %v, want %v", got, ms(tt.want))
			}
		})
	}
}

// TestPatienceProperties: whatever is known, the surer it is that somebody has finished, the less is
// waited; there are bounds, the shorter of which is what settles late words.
func TestPatienceProperties(t *testing.T) {
	said := []string{"", "what time is it", "i went there", "set a timer", "tell me about the", "um", "my number is oh two", "hold on", "yes", "and"}
	rapid.Check(t, func(t *rapid.T) {
		c := configs(t)
		c.EndFinished, c.EndDictated, c.EndWait = 0.22, 0.5, 4
		c.EndOpen = max(c.EndOpen, c.End)
		words := rapid.SampledFrom(said)
		e := hear.Evidence{
			Words: words.Draw(t, "words"), Before: words.Draw(t, "before"),
			Changed: time.Duration(rapid.IntRange(-1000, 3000).Draw(t, "changed")) * time.Millisecond,
			Lag:     time.Duration(rapid.SampledFrom([]int{0, 160, 1280}).Draw(t, "chunk")) * time.Millisecond,
			About:   hear.Talk{Name: "earshot", Asked: rapid.Bool().Draw(t, "asked")},
		}
		least := min(c.EndFinished, c.End).Duration()
		if late := e.Changed >= 120*time.Millisecond+min(e.Lag, 160*time.Millisecond); late && hear.Judge(e.Words, e.About) == hear.Finished {
			least = max(least, min(e.Changed+160*time.Millisecond, c.End.Duration()))
		}
		at := func(p float64) time.Duration {
			e.Turn = p
			return c.Patience(e)
		}
		last := at(0)
		for p := 0.05; p <= 1; p += 0.05 {
			if got := at(p); got > last {
				t.Errorf("at %.2f it is %v, and before %v", p, got, last)
			} else {
				last = got
			}
		}
		for _, p := range []float64{0, 0.5, 1, math.NaN()} {
			if got := at(p); got < least || got > c.EndWait.Duration() {
				t.Errorf("at %v it is %v, not from %v to %v", p, got, least, c.EndWait)
			}
		}
		if polite := strings.HasSuffix(e.Words, "hold on"); polite && at(1) != at(0) {
			t.Error("the sound shortens a wish for time")
		}
	})
}
