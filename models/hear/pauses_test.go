package hear_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"earshot/models/hear"
)

// A silence is one within or after something said.
type silence struct {
	kind  string        // pause, end, or finished: an end after words that are clearly complete
	lasts time.Duration // length of a pause
	heard []struct {
		at    time.Duration // since the beginning of the silence
		words string
	}
}

// silences reads what a recogniser made of the silences in the speech of four voices, as bench
// recorded it for its figure gap, for both of its sets.
func silences(t *testing.T) (sets [][]silence) {
	text, err := os.ReadFile("testdata/pauses.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			sets = append(sets, nil)
			continue
		}
		fields := strings.Split(line, "\t")
		kind, lasts, _ := strings.Cut(fields[0], " ")
		s := silence{kind: kind, lasts: time.Hour}
		if lasts != "" {
			s.lasts = milliseconds(t, lasts)
		}
		for _, f := range fields[1:] {
			at, words, _ := strings.Cut(f, " ")
			s.heard = append(s.heard, struct {
				at    time.Duration
				words string
			}{max(0, milliseconds(t, at)), words})
		}
		sets[len(sets)-1] = append(sets[len(sets)-1], s)
	}
	return sets
}

func milliseconds(t *testing.T, text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n) * time.Millisecond
}

// ended returns after how much silence the ear takes the speaker to be done.
func (s silence) ended(c hear.Config) time.Duration {
	wait, before := c.Patience("", "", 0, hear.Talk{}), ""
	for _, h := range s.heard {
		if h.at >= wait {
			break
		}
		wait, before = c.Patience(h.words, before, h.at, hear.Talk{Name: "earshot"}), h.words
		wait = max(wait, h.at)
	}
	return wait
}

// TestPauses: somebody who only pauses is waited for, and somebody who is done is answered soon.
// Half of the pauses in the second set come after words that could be complete.
func TestPauses(t *testing.T) {
	for n, bound := range []struct{ pauses, taken int }{{44, 1}, {51, 8}} {
		var all, finished []time.Duration
		pauses, taken := 0, 0
		for _, s := range silences(t)[n] {
			after := s.ended(hear.DefaultConfig())
			switch {
			case s.kind != "pause":
				all = append(all, after)
				if s.kind == "finished" {
					finished = append(finished, after)
				}
				continue
			case after < s.lasts:
				taken++
				t.Logf("after %v of %v: %q", after, s.lasts, s.heard[len(s.heard)-1].words)
			}
			pauses++
		}
		slices.Sort(all)
		slices.Sort(finished)
		t.Logf("set %d: %d of %d pauses are taken for the end; half of the ends are noticed within %v, of the finished ones within %v",
			n+1, taken, pauses, all[len(all)/2], finished[len(finished)/2])
		if pauses != bound.pauses || taken > bound.taken || finished[len(finished)/2] > 300*time.Millisecond {
			t.Errorf("of set %d at most %d of %d pauses may be taken for the end", n+1, bound.taken, bound.pauses)
		}
	}
}
