// Package heartest replays silences, so that tests and benches can try how long one is waited for: what
// a recogniser made of the silences within and after 135 things that four voices of flite said. It is
// for tests and benches only.
package heartest

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"earshot/models/hear"
)

// recorded is what bench wrote down for its figure gap.
//
//go:embed pauses.txt
var recorded string

// A Silence is one within or after something said.
type Silence struct {
	Kind  string        // pause, end, or finished: an end after words that are clearly complete
	Lasts time.Duration // of a pause; an end lasts an hour
	words []words
}

// words are those that were known at some time since the beginning of a silence.
type words struct {
	at   time.Duration
	text string
}

// Last returns the last words of it.
func (s Silence) Last() string { return s.words[len(s.words)-1].text }

// Silences returns the recorded ones, in two sets. Half of the pauses of the second come after words
// that could be complete.
func Silences() (sets [][]Silence, err error) {
	for line := range strings.Lines(recorded) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			sets = append(sets, nil)
			continue
		}
		s, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("pauses.txt: %q: %w", line, err)
		}
		sets[len(sets)-1] = append(sets[len(sets)-1], s)
	}
	return sets, nil
}

func parse(line string) (Silence, error) {
	fields := strings.Split(line, "\t")
	kind, lasts, _ := strings.Cut(fields[0], " ")
	s := Silence{Kind: kind, Lasts: time.Hour}
	if kind == "pause" {
		n, err := strconv.Atoi(lasts)
		if err != nil {
			return s, err
		}
		s.Lasts = time.Duration(n) * time.Millisecond
	}
	for _, f := range fields[1:] {
		at, text, _ := strings.Cut(f, " ")
		n, err := strconv.Atoi(at)
		if err != nil {
			return s, err
		}
		s.words = append(s.words, words{time.Duration(max(0, n)) * time.Millisecond, text})
	}
	return s, nil
}

// Answer is after how much silence a model answers that is asked after 200 ms, on a slow machine.
const Answer = 260 * time.Millisecond

// Ended returns after how much silence c takes the speaker to be done. Turn is what a model that
// listens to the sound answers, or NaN if there is none. If chunk is 0, the recogniser's words come as
// they were recorded. Otherwise each word comes when a chunk of that length is full; at the end of the
// voice, phase of it was.
func (s Silence) Ended(c hear.Config, turn float64, chunk, phase time.Duration) time.Duration {
	e := hear.Evidence{Turn: turn, Lag: chunk, Changed: -phase, About: hear.Talk{Name: "earshot"}}
	asks := !math.IsNaN(turn)
	if asks {
		e.Turn = hear.Undecided
	}
	wait := c.Patience(e)
	for i := 0; ; {
		next, late := time.Duration(math.MaxInt64), i < len(s.words)
		if late {
			next = s.words[i].at
			if chunk > 0 {
				next = (next+phase+chunk-1)/chunk*chunk - phase
			}
		}
		if late = late && (!asks || next <= Answer); asks && !late {
			next = Answer
		}
		if next >= wait {
			return wait
		}
		if late {
			e.Words, e.Before, e.Changed = s.words[i].text, e.Words, next
			i++
		} else {
			e.Turn, asks = turn, false
		}
		wait = max(c.Patience(e), next)
	}
}

// A Model stands in for one that listens to the sound. Of all its answers the given part is right, and
// it is mostly sure.
type Model struct {
	accuracy float64
	rng      *rand.Rand
}

// NewModel returns a model of some accuracy, from 0.5 to 1.
func NewModel(accuracy float64, seed uint64) *Model {
	return &Model{accuracy, rand.New(rand.NewPCG(seed, 0))}
}

// sureness is how the logarithm of its odds spreads: of its answers, one in ten is from 0.4 to 0.8 if
// 92 of 100 are right.
const sureness = 2.5

// Answer returns the probability that it gives for the end of somebody's turn in s.
func (m *Model) Answer(s Silence) float64 {
	mean := -math.Sqrt2 * math.Erfcinv(2*m.accuracy) // where a normal distribution has this part above 0
	if s.Kind == "pause" {
		mean = -mean
	}
	return 1 / (1 + math.Exp(-sureness*(mean+m.rng.NormFloat64())))
}
