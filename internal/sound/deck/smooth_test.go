package deck_test

import (
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/deck"
)

// TestSmooth: no control makes a speech click, at whatever sample it comes. From one sample to the
// next the level changes no faster than in a fade of 5 ms. After the fades every sample has exactly
// the level that was asked for.
func TestSmooth(t *testing.T) {
	const fade = 80
	lowered := int16(float64(loud)*audio.Decibels(-12) + 0.5)
	rapid.Check(t, func(t *rapid.T) {
		d := deck.New(1)
		d.Play(1, audio.Rate)
		d.Add(1, flat(deck.Most(audio.Rate)))
		level, since, last := int16(loud), 1000, int16(loud) // since is in samples, from the last control
		paused, cut := false, false
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				pcm := make([]int16, rapid.IntRange(fade, 640).Draw(t, "block"))
				d.Next(pcm)
				if r, ok := d.Played(0); ok && !cut {
					d.Add(1, flat(r.Credit))
				}
				for i, s := range pcm {
					if change := int(s) - int(last); max(change, -change) > loud/fade+1 {
						t.Fatalf("from %d to %d between two samples, %d after it was told", last, s, since+i)
					}
					if last = s; since+i >= 4*fade && s != level {
						t.Fatalf("it is %d, %d samples after it was told to be %d", s, since+i, level)
					}
				}
				since += len(pcm)
			},
			"do": func(t *rapid.T) {
				c := rapid.SampledFrom([]earshot.Control{earshot.Duck, earshot.Pause, earshot.Resume, earshot.Cut, earshot.Pause, earshot.Resume}).Draw(t, "control")
				if cut || c == earshot.Pause && paused {
					return
				}
				cut, paused, since = c == earshot.Cut, c == earshot.Pause, 0
				level = map[earshot.Control]int16{earshot.Duck: lowered, earshot.Resume: loud}[c]
				d.Do(1, c)
			},
		})
	})
}
