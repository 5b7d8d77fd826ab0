package main

import (
	"context"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
	decks "earshot/internal/sound/deck"
	"earshot/internal/sound/soundtest"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

// A cipher is a voice that takes no time, of which every stretch of sound says where
// it belongs. A word is a quarter of a second.
type cipher struct{ made int }

// Say implements [loudspeaker.Voice].
func (c *cipher) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return spell(ctx, spoken, func() []int16 {
		pcm := make([]int16, wordSamples)
		soundtest.Cipher(pcm, c.made)
		c.made += len(pcm)
		return pcm
	})
}

// A turntable is a device of 10 ms blocks behind a real deck. It records what it is
// given, and notes what it was told and when. It is for one speech.
type turntable struct {
	deck *decks.Deck
	busy sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond
	credit   int
	sent     int64
	over     bool
	given    [][]int16
	controls []controlled
}

// controlled is what a turntable was told.
type controlled struct {
	at   time.Time
	what earshot.Control
}

func newTurntable() *turntable {
	t := &turntable{deck: decks.New(1), credit: decks.Most(audio.Rate)}
	t.changed.L = &t.mu
	return t
}

// open implements [loudspeaker.Open].
func (t *turntable) open(context.Context, string, float64) (loudspeaker.Player, error) { return t, nil }

// Lost implements [loudspeaker.Player].
func (t *turntable) Lost() <-chan struct{} { return nil }

// Err implements [loudspeaker.Player].
func (t *turntable) Err() error { return nil }

// Close implements [loudspeaker.Player].
func (t *turntable) Close() { t.busy.Wait() }

// Play implements [loudspeaker.Player].
func (t *turntable) Play(_ int, moved func(sound.Position)) (loudspeaker.Playing, error) {
	t.deck.Play(1, audio.Rate)
	t.busy.Go(func() { t.run(moved) })
	return spin{t}, nil
}

// run plays until the speech is over. A tick that came late is made up for.
func (t *turntable) run(moved func(sound.Position)) {
	next := time.NewTicker(audio.Time / 2)
	defer next.Stop()
	began := time.Now()
	for n := 0; ; {
		<-next.C
		for ; time.Duration(n)*audio.Time/2 < time.Since(began); n++ {
			if t.block(moved) {
				return
			}
		}
	}
}

// block plays one, and reports whether the speech is over.
func (t *turntable) block(moved func(sound.Position)) (over bool) {
	pcm := make([]int16, audio.Samples/2)
	t.deck.Next(pcm)
	r, news := t.deck.Played(0)
	t.mu.Lock()
	t.given = append(t.given, pcm)
	t.credit += r.Credit
	t.over = news && r.End
	t.changed.Broadcast()
	t.mu.Unlock()
	if news {
		moved(sound.Position{Samples: r.Samples, End: r.End})
	}
	return news && r.End
}

// recorded returns what was played so far.
func (t *turntable) recorded() [][]int16 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.given[:len(t.given):len(t.given)]
}

// told returns what it was told so far.
func (t *turntable) told() []controlled {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.controls[:len(t.controls):len(t.controls)]
}

// A spin is the speech on a turntable.
type spin struct{ *turntable }

// Write implements [loudspeaker.Playing].
func (s spin) Write(_ context.Context, pcm []int16) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(pcm) > 0 {
		for s.credit == 0 && !s.over {
			s.changed.Wait()
		}
		if s.over {
			return sound.ErrOver
		}
		n := min(len(pcm), s.credit)
		if err := s.deck.Add(1, pcm[:n]); err != nil {
			return err
		}
		s.credit, s.sent, pcm = s.credit-n, s.sent+int64(n), pcm[n:]
	}
	return nil
}

// Do implements [loudspeaker.Playing].
func (s spin) Do(c earshot.Control) {
	at := time.Now()
	s.deck.Do(1, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controls = append(s.controls, controlled{at, c})
}

// Finish implements [loudspeaker.Playing].
func (s spin) Finish() {
	s.mu.Lock()
	sent := s.sent
	s.mu.Unlock()
	s.deck.Finish(1, sent)
}
