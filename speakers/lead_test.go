package speakers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/voiceprint"
	"earshot/speakers"
)

// between is d of a voice between two people's: 0 is the first, 1 the second.
func (w *world) between(one, other string, share float32, d time.Duration, channel string) *earshot.Voice {
	v, to := w.voice(one, d, channel), print(other)
	for i, n := range print(one) {
		v.Print[i] += share * (to[i] - n)
	}
	return v
}

// TestNotLedAway: a kept voice is not led to a stranger's by small steps, through whichever
// channels, however fast and however often. The stranger is unknown or new at the end, and she is
// still herself.
func TestNotLedAway(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := config()
		c.Enrol = 3
		w := open(t, t.TempDir(), c)
		ann := w.says("ann", 5*time.Second).Speaker
		w.says("ann", 5*time.Second)
		if _, err := w.book.Enrol("ann", w.said(), ann); err != nil {
			rt.Fatal(err)
		}
		channels := rapid.SliceOfN(rapid.SampledFrom([]string{"desk", "phone", "radio"}), 1, 3).Draw(rt, "channels")
		stranger := rapid.SampledFrom([]string{"bob", "cleo", "dan", "eve"}).Draw(rt, "stranger")
		step := float32(rapid.Float64Range(0.005, 0.1).Draw(rt, "step"))
		often := rapid.IntRange(1, 4).Draw(rt, "often")
		for share := float32(0); share < 1; share += step {
			for i := range often {
				w.now = w.now.Add(10 * time.Second)
				w.book.Whose(w.between("ann", stranger, share, 5*time.Second, channels[i%len(channels)]), w.now)
			}
		}
		for _, channel := range channels {
			if j := w.book.Guess(w.voice(stranger, 5*time.Second, channel), w.now.Add(time.Minute)); j.Speaker == ann {
				rt.Errorf("the stranger is taken for her through the %s: %+v", channel, j)
			}
		}
		if j := w.book.Guess(w.voice("ann", 5*time.Second, "desk"), w.now.Add(time.Minute)); j.Speaker != ann {
			rt.Errorf("she is %+v", j)
		}
	})
}

// TestTaughtByItself: what is learnt about a kept voice is more likely its own than not, by the
// kept print alone, whatever was learnt before.
func TestTaughtByItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := config()
		c.Enrol = 3
		w := open(t, t.TempDir(), c)
		enrolled := w.voice("ann", 5*time.Second, "desk")
		w.now = w.now.Add(10 * time.Second)
		ann := w.book.Whose(enrolled, w.now).Speaker
		if _, err := w.book.Enrol("ann", w.said(), ann); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "times") {
			other := rapid.SampledFrom([]string{"bob", "cleo", "dan"}).Draw(rt, "other")
			share := float32(rapid.Float64Range(0, 0.8).Draw(rt, "share"))
			v := w.between("ann", other, share, 5*time.Second, "desk")
			before := spoken(w.book, ann)
			w.now = w.now.Add(10 * time.Second)
			w.book.Whose(v, w.now)
			likely := voiceprint.Probability(voiceprint.Score(enrolled.Print, v.Print), 5*time.Second)
			if spoken(w.book, ann) > before && likely < 0.3 { // it was judged beside what the room adds, and here without
				rt.Errorf("she learns from what is hers with %.2f", likely)
			}
		}
	})
}

// spoken returns what was learnt of a voice.
func spoken(b *speakers.Registry, h earshot.Handle) time.Duration {
	s, _ := b.Speaker(h)
	return s.Spoken
}
