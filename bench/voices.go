package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"earshot/models/voiceprint"
	"earshot/models/voiceprint/cast"
)

// The goals for telling voices apart, and what others reach with networks, on
// real people.
const (
	sameGoal   = 6.5 // %
	acrossGoal = 10  // %
	stepGoal   = 15  // µs
	peersNote  = "on real people CAM++ has 0.65 % and ECAPA 0.86 % (VoxCeleb1-O); these are synthetic voices, so the figures say nothing about yours"
)

// tellApart measures how well prints tell strangers apart: voices of which the
// model was not made, who say what it was not made of.
func tellApart(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("voices", nil, "flite", "espeak-ng"); rows != nil {
		return rows, nil
	}
	said, err := utterances(ctx, cast.Strangers(), max(b.rounds, 4), noisy)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Clone(said), func(s saying) bool { return s.channel == cast.Noisy.Name })
	open, err := openSet(all, min(gathered, 4*b.rounds))
	if err != nil {
		return nil, err
	}
	sure, err := b.reliability(ctx)
	if err != nil {
		return nil, err
	}
	mixed, err := mixtures(ctx, said, min(mixes, 2*b.rounds))
	if err != nil {
		return nil, err
	}
	return slices.Concat(errorRates(all), byLength(all), []Row{calibration(all)}, identification(all), open, sure, mixed, []Row{b.stepping(all)}), nil
}

// A trial is two sayings that are compared.
type trial struct {
	one, other int // who
	score      float64
	heard      time.Duration
}

// trials compares all sayings of which that is wanted.
func trials(all []saying, wanted func(a, b saying) bool) (ts []trial) {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.print != nil && b.print != nil && a.what != b.what && wanted(a, b) {
				ts = append(ts, trial{a.who, b.who, voiceprint.Score(a.print, b.print), min(a.heard, b.heard)})
			}
		}
	}
	slices.SortFunc(ts, func(a, b trial) int { return cmp.Compare(a.score, b.score) })
	return ts
}

func sameChannel(a, b saying) bool { return a.channel == b.channel }
func across(a, b saying) bool      { return a.channel != b.channel }

// errorRates are the equal error rates, with their intervals.
func errorRates(all []saying) (rows []Row) {
	for _, r := range []struct {
		name   string
		wanted func(a, b saying) bool
		goal   float64
	}{{"B12 voices, equal error rate", sameChannel, sameGoal}, {"B12 the same, across channels", across, acrossGoal}} {
		ts := trials(all, r.wanted)
		rate, low, high := interval(ts)
		rows = append(rows, Row{
			Name: r.name, Unit: "%", Ours: Spread{rate, high, high},
			Note: fmt.Sprintf("95 %% of draws of people lie between %.1f and %.1f %% (p99 shows the upper); %d comparisons of 1.5 to 5 s; %s", low, high, len(ts), peersNote),
		}.goal("p50", rate, r.goal))
	}
	return rows
}

// byLength is the rate on the same channel when so much of a voice was heard.
func byLength(all []saying) (rows []Row) {
	for _, d := range []time.Duration{800 * time.Millisecond, 1200 * time.Millisecond, 1500 * time.Millisecond} {
		cut := slices.Clone(all)
		for i := range cut {
			cut[i].print, cut[i].heard = printOf(cut[i].frames, d)
		}
		rate := equalError(trials(cut, sameChannel), nil)
		rows = append(rows, Row{Name: fmt.Sprintf("B12 the same, of %.1f s", d.Seconds()), Unit: "%", Ours: same(rate)})
	}
	return rows
}

// interval returns the equal error rate in percent and where it lies if other
// people had been drawn: the people are drawn anew, with all their comparisons.
func interval(ts []trial) (rate, low, high float64) {
	const draws = 200
	luck := rand.New(rand.NewPCG(1, 2))
	people := 0
	for _, t := range ts {
		people = max(people, t.one+1, t.other+1)
	}
	var rates []float64
	for range draws {
		counts := make([]float64, people)
		for range people {
			counts[luck.IntN(people)]++
		}
		rates = append(rates, equalError(ts, counts))
	}
	slices.Sort(rates)
	return equalError(ts, nil), rates[draws/40], rates[draws-1-draws/40]
}

// equalError returns the rate, in percent, at which as many of one voice are
// taken for two as of two for one. Counts say how often each person was drawn;
// nil is once.
func equalError(sorted []trial, counts []float64) float64 {
	weight := func(t trial) float64 {
		switch {
		case counts == nil:
			return 1
		case t.one == t.other:
			return counts[t.one]
		}
		return counts[t.one] * counts[t.other]
	}
	var one, two float64
	for _, t := range sorted {
		if t.one == t.other {
			one += weight(t)
		} else {
			two += weight(t)
		}
	}
	refused, accepted := 0.0, two
	for _, t := range sorted {
		if t.one == t.other {
			refused += weight(t)
		} else {
			accepted -= weight(t)
		}
		if refused/one >= accepted/two {
			return 100 * refused / one
		}
	}
	return 100
}

// calibration is how often a comparison is wrong that says 9 of 10 or more for
// one voice, where as many are of one as of two.
func calibration(all []saying) Row {
	var right, wrong, one, two float64
	for _, t := range trials(all, func(a, b saying) bool { return true }) {
		certain := voiceprint.Probability(t.score, t.heard) >= 0.9
		switch {
		case t.one == t.other && certain:
			right++
			one++
		case t.one == t.other:
			one++
		case certain:
			wrong++
			two++
		default:
			two++
		}
	}
	right, wrong = right/one, wrong/two
	return Row{
		Name: "B12 wrong when 90 % sure", Unit: "%", Ours: same(100 * wrong / (right + wrong)),
		Note: fmt.Sprintf("%.0f %% of the comparisons of one voice are that sure", 100*right),
	}
}

// stepping is what a frame costs, measured ten at a time.
func (b bench) stepping(all []saying) Row {
	const ten = 10
	x := voiceprint.New()
	var samples []float64
	for i := range min(b.rounds, len(all)) {
		for frames := range slices.Chunk(all[i].frames, ten) {
			began := time.Now()
			for j := range frames {
				x.Step(&frames[j])
			}
			samples = append(samples, micros(time.Since(began))/float64(len(frames)))
		}
	}
	s := spread(samples)
	return Row{Name: "B12 a frame for a print", Unit: "µs", Ours: s}.goal("p50", s.P50, stepGoal)
}
