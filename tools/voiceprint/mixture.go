package main

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"earshot/models/voiceprint/acoustic"
	"earshot/models/voiceprint/cast"
)

// A window is 25 ms of a voice.
type window = [acoustic.Cepstra]float64

// learnMixture parts what people say into kinds of sounds: of each person two
// lines, through two channels, and each tenth window.
func learnMixture(ctx context.Context, people []cast.Person) (*acoustic.Mixture, error) {
	parts := make([][]window, len(people))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for p, person := range people {
		g.Go(func() error {
			for l := range 2 {
				luck := draw(person.Name, l)
				pcm, err := say(ctx, person, l, luck)
				if err != nil {
					return err
				}
				for _, c := range []cast.Channel{cast.Clean, cast.Some(luck.Uint64N(channels))} {
					parts[p] = append(parts[p], sample(c.Through(pcm, luck))...)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []window
	for _, part := range parts {
		all = append(all, part...)
	}
	return part(all), nil
}

// sample returns each tenth window of a voice.
func sample(pcm []float64) (some []window) {
	var a acoustic.Analyser
	var g acoustic.Gate
	n := 0
	frames := cast.Frames(pcm)
	for i := range frames {
		for _, w := range a.Step(&frames[i]).Windows() {
			if !g.Passes(&w) {
				continue
			}
			if n%10 == 0 {
				some = append(some, w.Shape)
			}
			n++
		}
	}
	return some
}

// part finds the kinds by expectation and maximisation, twenty times. They begin
// side by side along the first cepstrum, which tells vowels from hisses.
func part(all []window) *acoustic.Mixture {
	whole := new(moments)
	for i := range all {
		whole.add(&all[i], 1)
	}
	m := new(acoustic.Mixture)
	for k := range m {
		m[k] = whole.kind(1.0/acoustic.Kinds, &acoustic.Kind{})
		spread := 2*float64(k)/(acoustic.Kinds-1) - 1
		m[k].Mean[0] += spread * sqrt(m[k].Variance[0])
	}
	usual := whole.kind(1, &acoustic.Kind{})
	for range 20 {
		var of [acoustic.Kinds]moments
		shares := m.Shares()
		for i := range all {
			for k, p := range shares(&all[i]) {
				of[k].add(&all[i], p)
			}
		}
		for k := range m {
			m[k] = of[k].kind(of[k].n/float64(len(all)), &usual)
		}
	}
	return m
}

// moments are the weighted sums of windows and of their squares.
type moments struct {
	n            float64
	sum, squares window
}

func (m *moments) add(w *window, weight float64) {
	m.n += weight
	for q, v := range w {
		m.sum[q] += weight * v
		m.squares[q] += weight * v * v
	}
}

// kind returns the Gaussian of m, no narrower than a tenth of the usual one.
func (m *moments) kind(share float64, usual *acoustic.Kind) acoustic.Kind {
	k := acoustic.Kind{Share: share}
	for q := range k.Mean {
		k.Mean[q] = m.sum[q] / m.n
		k.Variance[q] = max(m.squares[q]/m.n-k.Mean[q]*k.Mean[q], usual.Variance[q]/10)
	}
	return k
}
