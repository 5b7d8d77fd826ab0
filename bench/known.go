package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"earshot/models/voiceprint"
)

// Three of eight people in a room are known, by three sayings each.
const (
	inRoom   = 8
	known    = 3
	learnt   = 3
	gathered = 200 // times, each time others
)

// identification measures how often somebody who is known is found, where the
// bound is such that so many sayings of the others are taken for somebody known.
func identification(all []saying) (rows []Row) {
	luck := rand.New(rand.NewPCG(3, 4))
	var found, mistaken []float64 // the best score of each; who is found wrongly is not found
	for range gathered {
		f, m := assemble(all, luck)
		found, mistaken = append(found, f...), append(mistaken, m...)
	}
	slices.Sort(mistaken)
	for _, rate := range []float64{1, 5} {
		bound := mistaken[int(float64(len(mistaken)-1)*(1-rate/100))]
		n := 0.0
		for _, s := range found {
			if s > bound {
				n++
			}
		}
		missed := 100 * (1 - n/float64(len(found)))
		rows = append(rows, Row{
			Name: fmt.Sprintf("B12 known people not found, %.0f %% false", rate), Unit: "%", Ours: same(missed),
			Note: fmt.Sprintf("of %d people %d are known by %d sayings each; at most %.0f %% of what the others say is taken for one of them; found: %.1f %%",
				inRoom, known, learnt, rate, 100-missed),
		})
	}
	return rows
}

// assemble draws people, and returns the score of each saying of who is known for
// the right one, lowest if another is nearer; and the best score of each saying
// of the others.
func assemble(all []saying, luck *rand.Rand) (found, mistaken []float64) {
	people := luck.Perm(all[len(all)-1].who + 1)[:inRoom]
	var prints [known][]float32
	for i := range prints {
		prints[i] = make([]float32, voiceprint.Size)
		for _, s := range all {
			if s.who == people[i] && s.what < learnt && s.channel == all[0].channel {
				for j, v := range s.print {
					prints[i][j] += v / learnt
				}
			}
		}
	}
	for _, s := range all {
		who := slices.Index(people, s.who)
		if who < 0 || s.what < learnt || s.channel != all[0].channel || s.print == nil {
			continue
		}
		best, score := nearest(prints[:], s.print)
		switch {
		case who >= known:
			mistaken = append(mistaken, score)
		case who == best:
			found = append(found, score)
		default:
			found = append(found, -1)
		}
	}
	return found, mistaken
}

// nearest returns which print is most like one, and how much.
func nearest(prints [][]float32, one []float32) (best int, score float64) {
	score = -1
	for i, p := range prints {
		if s := voiceprint.Score(p, one); s > score {
			best, score = i, s
		}
	}
	return best, score
}
