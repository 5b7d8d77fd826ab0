package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/stt"
)

const (
	// crowdPool is how many recognisers a call has, unless somebody says otherwise.
	crowdPool = 2

	// crowdRounds is how many rounds make the ten sentences that each speaker says.
	crowdRounds = 6

	// crowdPause is how long somebody is silent between two of them.
	crowdPause = 700 * time.Millisecond
)

// overlapping measures what it takes to understand one, two and three people of a call who
// speak at the same time, each on a track of their own, by as many recognisers as a call
// has. The bare thing of several is one of them, who has the recognisers alone.
func overlapping(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("crowd", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	if err := b.helpers(ctx); err != nil {
		return nil, err
	}
	var said [][]int16
	for text := range strings.Lines(sentencesText) {
		pcm, err := b.recite(ctx, "slt", strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if said = append(said, pcm); len(said)*crowdRounds > b.rounds {
			break
		}
	}
	var alone overlap
	for speakers := 1; speakers <= crowdPool+1; speakers++ {
		t, err := b.crowded(ctx, said, speakers)
		if err != nil {
			return nil, err
		}
		if speakers == 1 {
			alone = t
		}
		name := fmt.Sprintf("H: %d who speak at once, by %d recognisers", speakers, crowdPool)
		note := fmt.Sprintf("for %v; %d sentences, %d of them without words", t.lasted.Round(time.Second), len(t.late), t.wordless)
		rows = append(rows,
			row(name, "% of a core", same(t.share()), same(alone.share()), note),
			row(name+", end → words", "ms", spread(t.late), spread(alone.late), ""))
	}
	return rows, nil
}

// An overlap is what it took to understand some people.
type overlap struct {
	busy, lasted time.Duration
	late         []float64 // from the end of each sentence to its words, ms
	wordless     int
}

func (t overlap) share() float64 { return 100 * t.busy.Seconds() / t.lasted.Seconds() }

// crowded has some people say the same at once, each from another place of it on.
func (b bench) crowded(ctx context.Context, said [][]int16, speakers int) (t overlap, err error) {
	var mu sync.Mutex
	var pids []int
	start := dial{dir: b.bin()}.to(speechHelper, "hear")
	pool := stt.NewPool(stt.PoolConfig{Most: crowdPool, Each: stt.Config{Log: slog.New(slog.DiscardHandler), Dial: func() (helper.Link, error) {
		link, err := start()
		if p, ok := link.(*helper.Process); ok {
			mu.Lock()
			pids = append(pids, p.Pid())
			mu.Unlock()
		}
		return link, err
	}}})
	during, stop := beside(ctx, pool.Run)
	defer func() { err = errors.Join(err, stop()) }()
	var listeners []*stt.Listener
	for range speakers {
		listeners = append(listeners, pool.Listener())
	}
	say := func(pcm []int16, l *stt.Listener) error {
		late, words, err := utter(during, l, pcm)
		mu.Lock()
		defer mu.Unlock()
		if t.late = append(t.late, late); !words {
			t.wordless++
		}
		return err
	}
	all := func(do func(i int, l *stt.Listener) error) error {
		errs := make([]error, speakers)
		var g sync.WaitGroup
		for i, l := range listeners {
			g.Go(func() { errs[i] = do(i, l) })
		}
		g.Wait()
		return errors.Join(errs...)
	}
	// Who needs a helper that is not there yet waits for it, which is not measured.
	if err := all(func(_ int, l *stt.Listener) error { return say(said[0], l) }); err != nil {
		return t, err
	}
	t = overlap{}
	began := time.Now()
	for _, pid := range pids {
		busy, err := busyOf(pid)
		if err != nil {
			return t, err
		}
		t.busy -= busy
	}
	err = all(func(i int, l *stt.Listener) error {
		for n := range said {
			if err := say(said[(n+i*len(said)/speakers)%len(said)], l); err != nil {
				return err
			}
			time.Sleep(crowdPause)
		}
		return nil
	})
	t.lasted = time.Since(began)
	for _, pid := range pids {
		busy, failed := busyOf(pid)
		t.busy, err = t.busy+busy, errors.Join(err, failed)
	}
	return t, err
}

// utter has somebody say a sentence as fast as people do, and returns after how many
// milliseconds its words were known, and whether there were any.
func utter(ctx context.Context, l *stt.Listener, pcm []int16) (late float64, words bool, err error) {
	type known struct {
		at time.Time
		stt.Result
	}
	done := make(chan known, 1)
	s := l.Begin(func(r stt.Result) {
		if r.Final {
			done <- known{time.Now(), r}
		}
	})
	began := time.Now()
	for n := 0; len(pcm) >= audio.Samples; n++ {
		var f audio.Frame
		copy(f.PCM[:], pcm)
		pcm = pcm[audio.Samples:]
		select {
		case <-time.After(time.Until(began.Add(time.Duration(n) * audio.Time))):
		case <-ctx.Done():
			s.Cancel()
			return 0, false, context.Cause(ctx)
		}
		s.Feed(&f)
	}
	ended := time.Now()
	s.End()
	select {
	case k := <-done:
		return float64(k.at.Sub(ended).Microseconds()) / 1000, k.Text != "", k.Err
	case <-ctx.Done():
		s.Cancel()
		return 0, false, context.Cause(ctx)
	}
}
