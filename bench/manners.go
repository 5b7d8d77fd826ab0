package main

import (
	"context"
	"fmt"

	"earshot"
)

// fewer is which of the distractions are enough for a style that is not the usual one.
const fewer = 6

// mannerly measures B2 for the styles.
func mannerly(ctx context.Context, b bench) ([]Row, error) {
	return b.onStage(ctx, "yield-styles", b.manners)
}

// manners measures the styles that are not polite: how soon each does for somebody who
// speaks over it what it does then, and what it does for a part of the distractions.
// The aggressive one never pauses for a voice, and is cut by what is said to it; the
// passive one is silent at the onset, and stays so for people who talk to each other.
func (b bench) manners(ctx context.Context, d dial, s *stage) (rows []Row, err error) {
	for _, m := range []struct {
		style, row string
		first      []earshot.Control
		goal       float64 // ms
	}{
		{"aggressive", "B2 aggressive: onset → duck", []earshot.Control{earshot.Duck}, 150},
		{"passive", "B2 passive: onset → silence", []earshot.Control{earshot.Pause}, 150},
	} {
		var first []float64
		all, paused, cut := 0, 0, 0
		for i := range min(b.rounds, 2*len(voices)) {
			voice := voices[i%len(voices)]
			t, err := b.tape(ctx, d, voice, overtures[2*(i/len(voices))])
			if err != nil {
				return nil, err
			}
			asker, err := b.asker(ctx, d, voice)
			if err != nil {
				return nil, err
			}
			y, err := b.yield(ctx, s, t, asker, m.style)
			if err != nil {
				return nil, err
			}
			all++
			if after, ok := y.when(t.onset, m.first...); ok {
				first = append(first, after)
			}
			if _, was := y.when(0, earshot.Pause); was {
				paused++
			}
			if y.cut {
				cut++
			}
		}
		if len(first) == 0 {
			return nil, fmt.Errorf("%s: nothing that was said did anything, %d times", m.style, all)
		}
		note := fmt.Sprintf("p95 %s; %d of %d, of which %d paused it and %d cut it", number(most(first)), len(first), all, paused, cut)
		rows = append(rows, Row{Name: m.row, Unit: "ms", Ours: spread(first), Note: note}.goal("p95", most(first), m.goal))
		r, err := b.mannered(ctx, d, s, m.style)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// mannered counts what a part of the distractions does to an agent of a style.
func (b bench) mannered(ctx context.Context, d dial, s *stage, style string) (Row, error) {
	var heard, paused, held, cut int
	for _, c := range collections {
		all, err := c.make(ctx, b)
		if err != nil {
			return Row{}, err
		}
		asker, err := b.asker(ctx, d, c.asker)
		if err != nil {
			return Row{}, err
		}
		for i := 0; i < min(len(all), b.rounds); i += fewer {
			y, err := b.distract(ctx, d, s, all[i], asker, style)
			if err != nil {
				return Row{}, fmt.Errorf("%s: %d, %s: %w", style, i, all[i].kind, err)
			}
			heard++
			if _, was := y.when(0, earshot.Pause); was {
				paused++
			}
			switch {
			case y.cut:
				cut++
			case y.held:
				held++
			}
		}
	}
	return count("B2 "+style+": false cuts", cut, fmt.Sprintf("of %d distractions; %d paused it, after %d it did not go on", heard, paused, held)), nil
}
