package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"earshot/models/voiceprint/cast"
)

const (
	// offGoal is by how many points what a book says may differ from how often it is right.
	offGoal = 10

	// few is how many judgements tell nothing about that.
	few = 20
)

// reliability measures whether a book is right as often as it says: on people who are like
// each other, and by whom neither prints nor what they are worth was learnt.
func (b bench) reliability(ctx context.Context) (rows []Row, err error) {
	through := []cast.Channel{cast.Clean, cast.Noisy, cast.Dull, cast.Room}
	all, err := utterances(ctx, cast.Passersby(), max(min(b.rounds, 12), learnt+1), through)
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		name string
		of   []cast.Channel
	}{{"in quiet", through[:1]}, {"in noise of 15 dB", through[1:2]}, {"through other microphones", through[2:]}} {
		luck := rand.New(rand.NewPCG(10, 11))
		var some []verdict
		for range min(gathered, 4*b.rounds) {
			for _, c := range r.of {
				v, err := judged(all, c.Name, luck)
				if err != nil {
					return nil, err
				}
				some = append(some, v...)
			}
		}
		rows = append(rows, reliable("B12 who it is, off "+r.name, some))
	}
	return rows, nil
}

// reliable is by how many points what is said of those who are named differs from how often
// that is right: on average, and in the worst tenth.
func reliable(name string, all []verdict) Row {
	named := slices.DeleteFunc(slices.Clone(all), func(v verdict) bool { return !v.named })
	var off, worst float64
	var table []string
	for tenth := 5; tenth < 10; tenth++ {
		some := slices.DeleteFunc(slices.Clone(named), func(v verdict) bool { return min(int(10*v.sure), 9) != tenth })
		if len(some) == 0 {
			continue
		}
		said := 0.0
		for _, v := range some {
			said += 100 * v.sure / float64(len(some))
		}
		is := rateOf(some, func(v verdict) bool { return v.right }, nil)
		low, high := drawn(some, func(v verdict) bool { return v.right })
		differs := math.Abs(said - is)
		off += differs * float64(len(some)) / float64(len(named))
		if len(some) >= few {
			worst = max(worst, differs)
		}
		table = append(table, fmt.Sprintf("%.0f %% said, %.0f %% right (%.0f to %.0f, n %d)", said, is, low, high, len(some)))
	}
	right := func(v verdict) bool { return v.known && v.named && v.right }
	wrong := func(v verdict) bool { return !v.known && v.named }
	of := func(known bool) []verdict {
		return slices.DeleteFunc(slices.Clone(all), func(v verdict) bool { return v.known != known })
	}
	return Row{
		Name: name, Unit: "points", Ours: Spread{off, max(off, worst), max(off, worst)},
		Note: fmt.Sprintf("max is the worst tenth; %s; of those who are known %.1f %% are named right, of the others %.1f %% are taken for one of them", strings.Join(table, "; "), rateOf(of(true), right, nil), rateOf(of(false), wrong, nil)),
	}.goal("max", worst, offGoal)
}
