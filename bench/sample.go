package main

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"time"
)

// A Spread is how samples lie.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// A round measures something and returns one sample, or some.
type round func() ([]float64, error)

// compare measures ours and the bare thing in turns, who goes first changing
// with each round. The first tenth of the rounds are a warm-up that does not
// count.
func (b bench) compare(ours, bare round) (o, p Spread, err error) {
	var all [2][]Spread
	if _, _, err = alternate(b.rounds/10+1, ours, bare); err != nil {
		return o, p, err
	}
	for range b.repeats {
		runtime.GC() // of what was made before; not in the middle of a repeat
		first, second, err := alternate(b.rounds, ours, bare)
		if err != nil {
			return o, p, err
		}
		all[0], all[1] = append(all[0], spread(first)), append(all[1], spread(second))
	}
	return median(all[0]), median(all[1]), nil
}

func alternate(rounds int, ours, bare round) (o, p []float64, err error) {
	take := func(to *[]float64, r round) {
		if err == nil {
			var samples []float64
			samples, err = r()
			*to = append(*to, samples...)
		}
	}
	for i := range rounds {
		if i%2 == 0 {
			take(&o, ours)
			take(&p, bare)
		} else {
			take(&p, bare)
			take(&o, ours)
		}
	}
	if err == nil && (len(o) == 0 || len(p) == 0) {
		err = errors.New("no round came to anything; is the machine too busy?")
	}
	return o, p, err
}

// spread returns how samples lie, of which there is at least one.
func spread(samples []float64) Spread {
	slices.Sort(samples)
	at := func(part float64) float64 { return samples[int(part*float64(len(samples)-1)+0.5)] }
	return Spread{at(0.5), at(0.99), at(1)}
}

// median returns the median of each percentile, and the greatest of all.
func median(repeats []Spread) Spread {
	of := func(of func(Spread) float64) float64 {
		slices.SortFunc(repeats, func(a, b Spread) int { return cmp.Compare(of(a), of(b)) })
		return of(repeats[len(repeats)/2])
	}
	m := Spread{P50: of(func(s Spread) float64 { return s.P50 }), P99: of(func(s Spread) float64 { return s.P99 })}
	for _, s := range repeats {
		m.Max = max(m.Max, s.Max)
	}
	return m
}

// micros returns how long something took, as a sample.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
