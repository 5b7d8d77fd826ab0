package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"earshot"
	"earshot/store"
)

const (
	// postEvery is how often something is posted while something else is forgotten: once in
	// this time, which is more than people write.
	postEvery = 10 * time.Millisecond

	// postBeside is the goal in milliseconds of a post while something is forgotten.
	postBeside = 50
)

// forgetting measures how long it takes to forget in a journal of a million sentences: to
// say what would go, to erase it, and until its last trace is gone from the files. Beside
// it is posted all the time; the bare thing is the same post while nothing is forgotten.
func forgetting(ctx context.Context, b bench) (rows []Row, err error) {
	directory, err := b.grown(ctx, b.searched())
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	quiet, err := posts(ctx, s, func(ctx context.Context) error {
		select {
		case <-time.After(time.Duration(b.rounds) * 50 * time.Millisecond):
		case <-ctx.Done():
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	desk := earshot.Audience{Room: earshot.Desk, Members: pastPeople[:1]}
	for i := range min(b.repeats, 3) {
		last, err := s.For(desk).Last(ctx, []earshot.Kind{earshot.KindMessage}, 1000)
		if err != nil || len(last) == 0 {
			return nil, errors.Join(err, errors.New("nothing was said"))
		}
		more, err := forgetOnce(ctx, s, filepath.Join(directory, "earshot.db"), "one message", store.Selection{Events: []earshot.EventID{last[i].ID}}, quiet)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	since, until, err := lastTenth(ctx, s)
	if err != nil {
		return nil, err
	}
	more, err := forgetOnce(ctx, s, filepath.Join(directory, "earshot.db"), "one person of eight, in the last tenth", store.Selection{People: pastPeople[7:8], From: since, To: until}, quiet)
	return append(rows, more...), err
}

// lastTenth returns between which times the last tenth of the sentences of a past was said.
func lastTenth(ctx context.Context, s *store.Store) (since, until time.Time, err error) {
	var from, to int64
	err = s.Look(ctx, func(v earshot.View) error {
		return v.QueryRowContext(ctx, `SELECT (SELECT at FROM journal WHERE sequence = (SELECT max(sequence) * 9 / 10 FROM journal WHERE room <> 'bench')),
			(SELECT max(at) + 1 FROM journal WHERE room <> 'bench')`).Scan(&from, &to)
	})
	return time.UnixMilli(from), time.UnixMilli(to), err
}

// forgetOnce forgets a selection.
func forgetOnce(ctx context.Context, s *store.Store, path, what string, sel store.Selection, quiet []float64) ([]Row, error) {
	var found, erased, cleaned, read time.Duration
	var n int
	beside, err := posts(ctx, s, func(ctx context.Context) error {
		began := time.Now()
		all, err := s.Select(ctx, sel)
		if err != nil {
			return err
		}
		found = time.Since(began)
		began = time.Now()
		if n, err = s.Forget(ctx, sel, nil); err != nil {
			return err
		}
		erased = max(0, time.Since(began)-found) // it looks again at what goes
		began = time.Now()
		if err := readThrough(path); err != nil {
			return err
		}
		read = time.Since(began)
		began = time.Now()
		err = s.Clean(ctx)
		cleaned = time.Since(began)
		if len(all) > n {
			return fmt.Errorf("%d events were to be forgotten, and %d were", len(all), n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	one := func(d time.Duration) Spread { return spread([]float64{inMillis(d)}) }
	note := fmt.Sprintf("%d events", n)
	return []Row{
		{Name: "forget " + what + ": say what goes", Unit: "ms", Ours: one(found), Note: note},
		{Name: "forget " + what + ": erase it", Unit: "ms", Ours: one(erased), Note: note},
		row("forget "+what+": its last trace is gone", "ms", one(cleaned), one(read), note+"; bare: to read the file once"),
		row("forget "+what+": a post beside it", "ms", spread(beside), spread(quiet), fmt.Sprintf("%d posts, p95 %s ms, and %s ms while nothing is forgotten",
			len(beside), number(at95(beside)), number(at95(quiet)))).goal("p95", at95(beside), postBeside),
	}, nil
}

// readThrough reads a file, which is the least that whoever looks for traces in it does.
func readThrough(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

// posts does something, and posts all the while. It returns how long each post took, in
// milliseconds.
func posts(ctx context.Context, s *store.Store, do func(context.Context) error) (took []float64, err error) {
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	tick := time.NewTicker(postEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		began := time.Now()
		_, err := s.Append(ctx, earshot.Event{Room: "bench", Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "the tide comes in"}})
		if err != nil {
			return nil, errors.Join(err, <-done)
		}
		took = append(took, inMillis(time.Since(began)))
		select {
		case err := <-done:
			return took, err
		case <-tick.C:
		}
	}
}

// at95 returns the 95th percentile of samples.
func at95(samples []float64) float64 {
	slices.Sort(samples)
	return samples[int(0.95*float64(len(samples)-1)+0.5)]
}
