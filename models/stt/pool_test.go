package stt_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/stt"
)

// pooled runs a pool of n in a bubble. Its helpers understand as many words as an utterance has
// frames. It counts how many of them are alive, and how many there ever were.
func pooled(t *testing.T, n int, end func() error) (p *stt.Pool, lives, ever *atomic.Int32, stop func()) {
	lives, ever = new(atomic.Int32), new(atomic.Int32)
	dial := fake(nil, func() script {
		lives.Add(1)
		ever.Add(1)
		count := counting()
		return func(s *helper.Server, m helper.Sound) error {
			if err := end(); err != nil {
				return err
			}
			return count(s, m)
		}
	})
	p = stt.NewPool(stt.PoolConfig{Most: n, Each: stt.Config{Log: quiet, Dial: func() (helper.Link, error) {
		link, err := dial()
		return ending{link, lives}, err
	}}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return p, lives, ever, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
}

// An ending counts lives down when the helper has ended.
type ending struct {
	helper.Link
	lives *atomic.Int32
}

func (e ending) Run(ctx context.Context, h helper.Handler) error {
	defer e.lives.Add(-1)
	return e.Link.Run(ctx, h)
}

func well() error { return nil }

// TestPool: somebody who speaks at the same time as somebody else is understood meanwhile, by a
// second helper that runs only as long as it is needed.
func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, lives, ever, stop := pooled(t, 2, well)
		defer stop()
		time.Sleep(time.Minute) // the second does not run yet
		if n := lives.Load(); n != 1 {
			t.Errorf("%d helpers at first", n)
		}
		var first, second, third tape
		a := p.Listener().Begin(first.on)
		feed(a, 7)
		b := p.Listener().Begin(second.on)
		feed(b, 5)
		b.End()
		synctest.Wait()
		if second.String() != "5 frames!" || lives.Load() != 2 {
			t.Errorf("understood %v beside another, by %d helpers", &second, lives.Load())
		}
		c := p.Listener().Begin(third.on)
		feed(c, 3)
		c.End()
		synctest.Wait()
		if third.String() != "3 frames!" {
			t.Errorf("understood %v", &third)
		}
		time.Sleep(3*time.Minute + time.Second)
		if n := lives.Load(); n != 1 {
			t.Errorf("%d helpers when nobody has needed the second for three minutes", n)
		}
		time.Sleep(10 * time.Minute)
		if n := ever.Load(); n != 2 {
			t.Errorf("%d helpers were started", n)
		}
		a.End()
		synctest.Wait()
		if first.String() != "7 frames!" {
			t.Errorf("understood %v", &first)
		}
	})
}

// TestPoolIsFull: one speaker too many is understood when another has finished.
func TestPoolIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, lives, _, stop := pooled(t, 2, well)
		defer stop()
		var tapes [3]tape
		var all [3]*stt.Session
		for i := range all {
			all[i] = p.Listener().Begin(tapes[i].on)
			feed(all[i], i+1)
		}
		all[2].End()
		synctest.Wait()
		if got := tapes[2].String(); got != "" || lives.Load() != 2 {
			t.Errorf("understood %q by %d helpers", got, lives.Load())
		}
		all[0].End()
		all[1].End()
		synctest.Wait()
		if tapes[0].String() != "1 frames!" || tapes[1].String() != "2 frames!" || tapes[2].String() != "3 frames!" {
			t.Errorf("understood %v, %v, %v", &tapes[0], &tapes[1], &tapes[2])
		}
	})
}

// TestPoolBearsDeaths: if either helper dies in the middle, nobody loses a word.
func TestPoolBearsDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken atomic.Int32
		p, _, ever, stop := pooled(t, 2, func() error {
			if n := taken.Add(1); n == 3 || n == 6 {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
		defer stop()
		var first, second tape
		a, b := p.Listener().Begin(first.on), p.Listener().Begin(second.on)
		for range 5 {
			feed(a, 1)
			feed(b, 2)
			time.Sleep(100 * time.Millisecond)
		}
		a.End()
		b.End()
		time.Sleep(4 * time.Second)
		if first.String() != "5 frames!" || second.String() != "10 frames!" || ever.Load() != 4 {
			t.Errorf("understood %v and %v by %d helpers", &first, &second, ever.Load())
		}
	})
}

// TestPoolStaysWithARecogniser: somebody is understood by the same helper as last time, if that is
// free.
func TestPoolStaysWithARecogniser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var streams []uint32 // for each helper, the last utterance
		dial := fake(nil, func() script {
			mu.Lock()
			defer mu.Unlock()
			n := len(streams)
			streams = append(streams, 0)
			count := counting()
			return func(s *helper.Server, m helper.Sound) error {
				mu.Lock()
				streams[n] = m.Stream
				mu.Unlock()
				return count(s, m)
			}
		})
		p := stt.NewPool(stt.PoolConfig{Most: 2, Each: stt.Config{Dial: dial, Log: quiet}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait() // until the first helper is there
		ann, bob := p.Listener(), p.Listener()
		say := func(l *stt.Listener) {
			s := l.Begin(func(stt.Result) {})
			feed(s, 5)
			s.End()
			synctest.Wait()
		}
		a := ann.Begin(func(stt.Result) {})
		say(bob) // at the same time as ann, so by the second helper
		a.End()
		synctest.Wait()
		for range 3 {
			say(bob)
			say(bob)
			say(ann)
		}
		cancel()
		<-done
		if want := []uint32{4, 7}; !slices.Equal(streams, want) {
			t.Errorf("the helpers heard %v utterances, want %v", streams, want)
		}
	})
}

// TestPoolWithoutHelper: if there can be no helper, the pool ends, and reports that once.
func TestPoolWithoutHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		missing := &helper.MissingError{Name: "earshot-speech"}
		p := stt.NewPool(stt.PoolConfig{
			Most: 3, Report: func(n earshot.Notice) { told = append(told, n.Key) },
			Each: stt.Config{Log: quiet, Dial: func() (helper.Link, error) { return nil, missing }},
		})
		if err := p.Run(t.Context()); !errors.Is(err, errors.ErrUnsupported) || !slices.Equal(told, []string{"recognition"}) {
			t.Errorf("it ended with %v and told of %v", err, told)
		}
		var heard tape
		s := p.Listener().Begin(heard.on)
		s.End()
		time.Sleep(time.Minute)
		if heard.String() != stt.ErrAway.Error()+"!" {
			t.Errorf("heard %v", &heard)
		}
	})
}
