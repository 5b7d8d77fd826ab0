// Command voicing fits the weights of package models/voicing: to voices of flite and espeak-ng, and
// to sounds that are none, which it makes. It prints them as they stand in that package. Its test
// counts, with other seeds and voices, how many of each kind are taken for a voice.
//
// It computes for some minutes, on one processor, and nothing waits for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"earshot/models/voicing"
)

func main() {
	each := flag.Int("each", 40, "how many sounds of each kind")
	flag.Parse()
	takes, err := record(context.Background(), *each)
	if err != nil {
		fmt.Fprintf(os.Stderr, "voicing: %v\n", err)
		os.Exit(1)
	}
	usual, ranges := fit(takes)
	for _, r := range ranges {
		fmt.Printf("\t{%.3g, %.3g, %.3g},\n", r.low, r.high, r.weight)
	}
	fmt.Printf("const usual = %.3g\n", usual)
}

// A ranged is the weight of a feature, and from where to where it counts.
type ranged struct{ low, high, weight float64 }

// far is how many standard deviations off the mean a feature still says more.
const far = 2.5

// An example is an instant of a take. All kinds together weigh as much as the voices, and each of
// them the same.
type example struct {
	x      [voicing.Features]float64
	voice  bool
	weight float64
}

// fit returns the weights by which the instants of voices are told from others: a logistic
// regression, by gradient descent, with a small penalty for large weights.
func fit(takes []take) (usual float64, all [voicing.Features]ranged) {
	examples, mean, width := standardised(takes)
	const passes, rate, penalty = 30, 0.02, 1e-4
	var w [voicing.Features]float64
	d := rand.New(rand.NewPCG(1, 2))
	for pass := range passes {
		step := rate * (1 - float64(pass)/passes)
		d.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		for i := range examples {
			e := &examples[i]
			sum, want := usual, 0.0
			for k, x := range e.x {
				sum += w[k] * x
			}
			if e.voice {
				want = 1
			}
			off := min(5, e.weight) * (want - 1/(1+math.Exp(-sum)))
			usual += step * off
			for k, x := range e.x {
				w[k] += step * (off*x - penalty*w[k])
			}
		}
	}
	for k := range all {
		all[k] = ranged{mean[k] - far*width[k], mean[k] + far*width[k], w[k] / width[k]}
		usual -= w[k] * mean[k] / width[k]
	}
	return usual, all
}

// standardised returns the instants of takes with features of mean 0 and width 1, and what these
// were.
func standardised(takes []take) (examples []example, mean, width [voicing.Features]float64) {
	kinds, n := make(map[string]float64), 0.0
	for _, t := range takes {
		kinds[t.kind] += float64(len(t.instants))
		for _, x := range t.instants {
			n++
			for k, v := range x {
				mean[k] += v
				width[k] += v * v
			}
		}
	}
	for k := range mean {
		mean[k] /= n
		width[k] = math.Sqrt(width[k]/n - mean[k]*mean[k])
	}
	for _, t := range takes {
		weight := n / 2 / kinds[t.kind]
		if t.kind != "" {
			weight /= float64(len(kinds) - 1)
		}
		for _, x := range t.instants {
			for k := range x {
				x[k] = min(max((x[k]-mean[k])/width[k], -far), far)
			}
			examples = append(examples, example{x, t.kind == "", weight})
		}
	}
	return examples, mean, width
}
