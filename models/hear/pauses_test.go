package hear_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"earshot/models/hear"
	"earshot/models/hear/heartest"
)

// A replay is what came of a set of silences.
type replay struct {
	pauses, taken int             // pauses, and those that were taken for the end
	ends          []time.Duration // after how long an end was noticed, in order
	finished      []time.Duration // the same of those after words that are clearly complete
}

// perform replays a set, with what a model answers and in what chunks words come.
func perform(t *testing.T, set int, answer func(heartest.Silence) float64, chunk, phase time.Duration) (r replay) {
	sets, err := heartest.Silences()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets[set] {
		after := s.Ended(hear.DefaultConfig(), answer(s), chunk, phase)
		switch {
		case s.Kind == "pause":
			r.pauses++
			if after < s.Lasts {
				r.taken++
				t.Logf("after %v of %v: %q", after, s.Lasts, s.Last())
			}
			continue
		case s.Kind == "finished":
			r.finished = append(r.finished, after)
		}
		r.ends = append(r.ends, after)
	}
	slices.Sort(r.ends)
	slices.Sort(r.finished)
	return r
}

// middle returns the median.
func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// unheard is the answer of no model.
func unheard(heartest.Silence) float64 { return math.NaN() }

// TestPauses: somebody who only pauses is waited for, and somebody who is done is answered soon.
// Half of the pauses in the second set come after words that could be complete.
func TestPauses(t *testing.T) {
	for n, bound := range []struct{ pauses, taken int }{{44, 1}, {51, 8}} {
		r := perform(t, n, unheard, 0, 0)
		t.Logf("set %d: %d of %d pauses are taken for the end; half of the ends are noticed within %v, of the finished ones within %v",
			n+1, r.taken, r.pauses, middle(r.ends), middle(r.finished))
		if r.pauses != bound.pauses || r.taken > bound.taken || middle(r.finished) > 300*time.Millisecond {
			t.Errorf("of set %d at most %d of %d pauses may be taken for the end", n+1, bound.taken, bound.pauses)
		}
	}
}

// TestPausesWithSound: with a model that is right in 92 of 100 cases, as smart-turn is said to be, at
// most one pause in 40 is taken for the end, and ends are noticed as soon.
func TestPausesWithSound(t *testing.T) {
	for set := range 2 {
		words := perform(t, set, unheard, 0, 0)
		pauses, taken, ends := 0, 0, []time.Duration(nil)
		for seed := range uint64(20) {
			r := perform(t, set, heartest.NewModel(0.92, seed).Answer, 0, 0)
			pauses, taken, ends = pauses+r.pauses, taken+r.taken, append(ends, r.ends...)
		}
		slices.Sort(ends)
		t.Logf("set %d: %d of %d pauses; half of the ends within %v, by words alone %v", set+1, taken, pauses, middle(ends), middle(words.ends))
		if taken*40 > pauses || middle(ends) > middle(words.ends) {
			t.Errorf("of set %d, %d of %d pauses are taken for the end, and half of the ends noticed within %v", set+1, taken, pauses, middle(ends))
		}
	}
}

// TestPausesInChunks: a recogniser whose words come in chunks makes nobody hasty or deaf, with and
// without a model for the sound, wherever in a chunk the voice ends.
func TestPausesInChunks(t *testing.T) {
	const chunk = 1280 * time.Millisecond
	for set, most := range []int{2, 7} { // of 40 pauses, without a model: as many as if words came at once
		pauses, alone, taken := 0, 0, 0
		for phase := time.Duration(0); phase < chunk; phase += chunk / 8 {
			r := perform(t, set, unheard, chunk, phase)
			pauses, alone = pauses+r.pauses, alone+r.taken
			if last := r.ends[len(r.ends)-1]; last > hear.DefaultConfig().EndDictated.Duration() {
				t.Errorf("an end is noticed after %v", last)
			}
			r = perform(t, set, heartest.NewModel(0.92, uint64(phase)).Answer, chunk, phase)
			taken += r.taken
			if middle(r.ends) > 310*time.Millisecond {
				t.Errorf("with sound, half of the ends are noticed within %v", middle(r.ends))
			}
		}
		t.Logf("set %d: of %d pauses %d are taken for the end, with sound %d", set+1, pauses, alone, taken)
		if alone*40 > most*pauses || taken*40 > pauses {
			t.Errorf("of set %d, %d of %d pauses are taken for the end, and with sound %d", set+1, alone, pauses, taken)
		}
	}
}
