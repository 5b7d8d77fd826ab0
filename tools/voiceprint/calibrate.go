package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
)

// A trial is two prints that are compared.
type trial struct {
	same     bool
	evidence float64
	heard    time.Duration
}

// A piece is a part of a take, as a print.
type piece struct {
	take  *take
	half  int
	heard time.Duration
	print []float32
}

// calibrate finds out what evidence is worth. Half of the people are judged by
// what was learnt from the other half: of those that a model was made of, it is
// too sure.
func calibrate(m *acoustic.Model, takes []take, out io.Writer) {
	var any, near []trial
	for fold := range 2 {
		learn, judge := halves(takes, fold)
		other := discriminate(learn, &m.Mixture)
		pieces := cutUp(other, judge)
		any = append(any, pairs(other, pieces)...)
		near = append(near, neighbours(other, pieces)...)
	}
	m.Odds, m.Near = fit(any), fit(near)
	for _, c := range []struct {
		name   string
		trials []trial
	}{{"two utterances", any}, {"two pieces of one", near}} {
		fmt.Fprintf(out, "%s: %d trials, equal error rate %.1f %%\n", c.name, len(c.trials), 100*equalError(c.trials))
	}
}

// halves parts people by their number: the first take turns in who learns.
func halves(takes []take, fold int) (learn, judge []take) {
	for _, t := range takes {
		if t.person/2%2 == fold {
			learn = append(learn, t)
		} else {
			judge = append(judge, t)
		}
	}
	return learn, judge
}

// cutUp returns the prints of all pieces, those of one length and half together.
func cutUp(m *acoustic.Model, takes []take) map[[2]int][]piece {
	all := make(map[[2]int][]piece)
	for i := range takes {
		for _, c := range takes[i].cuts {
			p := piece{take: &takes[i], half: c.half, heard: time.Duration(c.frames) * audio.Time, print: make([]float32, acoustic.Size)}
			m.Print(p.print, (*[acoustic.Raw]float64)(&c.raw))
			key := [2]int{c.frames, c.half}
			all[key] = append(all[key], p)
		}
	}
	return all
}

// stride parts the strangers of a piece: all pairs would be millions of trials
// that say the same.
const stride = 97

// pairs compares pieces of different lines, of equal lengths.
func pairs(m *acoustic.Model, pieces map[[2]int][]piece) (trials []trial) {
	scales := m.Scales()
	for _, n := range cuts {
		all := pieces[[2]int{n, 0}]
		for i := range all {
			for j := i + 1; j < len(all); j++ {
				a, b := &all[i], &all[j]
				same := a.take.person == b.take.person
				if same && a.take.line != b.take.line || !same && (j-i)%stride == 0 {
					trials = append(trials, trial{same, scales.Evidence(a.print, b.print), a.heard})
				}
			}
		}
	}
	return trials
}

// neighbours compares the two halves of takes, with each other and with those of
// others who spoke through the same channel.
func neighbours(m *acoustic.Model, pieces map[[2]int][]piece) (trials []trial) {
	scales := m.Scales()
	for _, n := range cuts {
		for _, a := range pieces[[2]int{n, 0}] {
			for i, b := range pieces[[2]int{n, 1}] {
				same := a.take == b.take
				if same || a.take.person != b.take.person && a.take.channel == b.take.channel && i%23 == 0 {
					trials = append(trials, trial{same, scales.Evidence(a.print, b.print), a.heard})
				}
			}
		}
	}
	return trials
}

// fit finds the odds that explain the trials best, where half of them are the
// same: a logistic regression by Newton's method.
func fit(trials []trial) (odds acoustic.Odds) {
	weights := balance(trials)
	for range 40 {
		slope, bend := make([]float64, len(odds)), newMatrix(len(odds))
		for i := range odds {
			bend[i][i] = 1e-9
		}
		for _, t := range trials {
			factors := acoustic.Factors(t.evidence, t.heard)
			p := 1 / (1 + math.Exp(-odds.Of(t.evidence, t.heard)))
			want := 0.0
			if t.same {
				want = 1
			}
			add(slope, factors[:], weights[t.same]*(want-p))
			bend.add(factors[:], weights[t.same]*p*(1-p))
		}
		root := bend.root()
		add(odds[:], root.solveTransposed(root.solve(slope)), 1)
	}
	return odds
}

// balance returns how much each trial counts, so that both outcomes count the
// same.
func balance(trials []trial) map[bool]float64 {
	count := make(map[bool]float64)
	for _, t := range trials {
		count[t.same]++
	}
	return map[bool]float64{true: 0.5 / count[true], false: 0.5 / count[false]}
}

// equalError returns the rate at which as many that are the same are refused as
// others are accepted.
func equalError(trials []trial) float64 {
	slices.SortFunc(trials, func(a, b trial) int {
		switch {
		case a.evidence < b.evidence:
			return -1
		case a.evidence > b.evidence:
			return 1
		}
		return 0
	})
	weights := balance(trials)
	refused, accepted := 0.0, 0.5
	for _, t := range trials {
		if t.same {
			refused += weights[true]
		} else {
			accepted -= weights[false]
		}
		if refused >= accepted {
			return 2 * refused
		}
	}
	return 0
}
