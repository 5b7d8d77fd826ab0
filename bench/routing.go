package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/turn"
	"earshot/interrupt"
	"earshot/llm"
	"iter"
)

const (
	routed   = 20_000 // pieces of a reply: 100 KB, below the longest that a turn allows
	admitted = 200    // events of a round
)

// routing measures what a piece of a reply costs on its way through scheduler,
// ladder and turn into an outlet in memory, beside ranging over the engine; and
// what it costs to admit an event that starts no turn, beside the journal's own
// Append. Both journals are in memory.
func routing(ctx context.Context, b bench) ([]Row, error) {
	b.rounds = min(b.rounds, 8) // each is many pieces already
	pieces, err := b.perUnit("routing a piece", "piece", routed,
		func() error { return turnOf(ctx, ladder(&engine{pieces: routed})) },
		func() error { return rangeOver(ctx, &engine{pieces: routed}) })
	if err != nil {
		return nil, err
	}
	set := executive.DefaultConfig()
	set.Enabled = false
	h := open(ctx, furniture{model: ladder(new(engine)), journal: new(blank), outlet: sink{}, settings: set})
	defer h.leave()
	journal := new(blank)
	events, err := b.perUnit("admitting an event", "event", admitted,
		func() error { return admitMany(ctx, h) },
		func() error { return appendMany(ctx, journal) })
	return append(pieces, events...), err
}

// perUnit measures what does so many units at once: their time, and what they
// allocate.
func (b bench) perUnit(name, unit string, units int, ours, bare func() error) ([]Row, error) {
	var kept [2][]Spread
	counted := func(to *[]Spread, do func() error) round {
		return func() ([]float64, error) {
			allocated, took, err := cost(do)
			n := float64(allocated) / float64(units)
			*to = append(*to, Spread{n, n, n})
			return []float64{float64(took) / float64(units)}, err
		}
	}
	o, p, err := b.compare(counted(&kept[0], ours), counted(&kept[1], bare))
	if err != nil {
		return nil, err
	}
	return []Row{
		row(name, "ns a "+unit, o, p, ""),
		row(name+", allocations", "a "+unit, median(kept[0]), median(kept[1]), ""),
	}, nil
}

// cost returns what do allocates, and how long it takes.
func cost(do func() error) (allocated uint64, took time.Duration, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err = do()
	took = time.Since(began)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, took, err
}

// turnOf takes a turn of what model says.
func turnOf(ctx context.Context, model llm.Service) error {
	reply, err := turn.Run(ctx, turn.Spec{
		Floor: new(interrupt.Floor), Outlets: []earshot.Outlet{listen(sink{}).outlet()},
		Ahead: executive.DefaultConfig().Streaming.BufferSize, Drain: time.Second,
		Text: func(ctx context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				for d, err := range model.Stream(ctx, new(llm.Request)) {
					if !yield(d.Text, err) {
						return
					}
				}
			}
		},
	})
	if got := len(reply.Delivered()); err == nil && got != routed*len(piece) {
		return fmt.Errorf("%d bytes were heard, not %d", got, routed*len(piece))
	}
	return err
}

// rangeOver takes what model says and does nothing with it.
func rangeOver(ctx context.Context, model llm.Service) error {
	for _, err := range model.Stream(ctx, new(llm.Request)) {
		if err != nil {
			return err
		}
	}
	return nil
}

// admitMany brings in messages that nobody answers, one after the other.
func admitMany(ctx context.Context, h *house) error {
	for range admitted {
		if _, err := h.say(ctx, "the tide comes in"); err != nil {
			return err
		}
	}
	return nil
}

// appendMany keeps as many messages and decisions as [admitMany] leads to.
func appendMany(ctx context.Context, j *blank) error {
	for range admitted {
		m := earshot.Event{ID: newID(), From: ann, Body: earshot.Message{Text: "the tide comes in"}}
		d := earshot.Event{ID: newID(), Body: earshot.Decision{About: m.ID}}
		if _, err := j.Append(ctx, m, d); err != nil {
			return err
		}
	}
	return nil
}
