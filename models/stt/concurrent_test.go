package stt_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/stt"
	"earshot/models/wire"
)

// answer is how long the helper of atOnce takes after the end of an utterance.
const answer = 50 * time.Millisecond

// atOnce returns the dialer of a helper that hears utterances at the same time, understands as many
// words as each has frames, and says so a moment after its end. Take may end it. Most counts how
// many utterances it has heard at once.
func atOnce(take func(m helper.Sound) error, most *atomic.Int32) helper.Dialer {
	return helpertest.Dialer("earshot-neural hear", func(ctx context.Context, s *helper.Server) error {
		var parts sync.WaitGroup
		defer parts.Wait()
		var mu sync.Mutex
		heard := make(map[uint32]int)
		opened := make(chan struct{})
		parts.Go(func() {
			s.Controls(func(c helper.Control) error {
				var m wire.Cancel
				switch {
				case c.Name == wire.OpenName:
					close(opened)
				case c.Decode(&m) == nil:
					mu.Lock()
					delete(heard, m.Stream)
					mu.Unlock()
				}
				return nil
			})
		})
		select {
		case <-opened:
		case <-ctx.Done():
			return nil
		}
		if err := s.Send(wire.ReadyName, wire.ReadyHear{Concurrent: true, Chunk: 1600, Tail: 2000}); err != nil {
			return err
		}
		return s.Sounds(func(m helper.Sound) error {
			if err := take(m); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			heard[m.Stream] += len(m.Data) / 2
			most.Store(max(most.Load(), int32(len(heard))))
			if len(m.Data) > 0 {
				return nil
			}
			h := wire.Hypothesis{Stream: m.Stream, Text: earshot.Text(fmt.Sprintf("%d frames", heard[m.Stream]/audio.Samples)), Confidence: 1}
			parts.Go(func() {
				select {
				case <-time.After(answer):
				case <-ctx.Done():
				}
				mu.Lock()
				defer mu.Unlock()
				if _, wanted := heard[h.Stream]; wanted {
					s.Send(wire.FinalName, h)
				}
				delete(heard, h.Stream)
			})
			return nil
		})
	})
}

// lives never ends a helper.
func lives(helper.Sound) error { return nil }

// TestAtOnce: a helper that can hears people at the same time; one of them may leave.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int32
		r := stt.New(stt.Config{Dial: atOnce(lives, &most), Log: quiet})
		defer live(t, r)()
		synctest.Wait()
		if is := (wire.ReadyHear{Concurrent: true, Chunk: 1600, Tail: 2000}); r.Ready() != is {
			t.Errorf("it hears like %+v", r.Ready())
		}
		var first, second, third tape
		a, b, c := r.Begin(first.on), r.Begin(second.on), r.Begin(third.on)
		feed(c, 3) // before the others
		synctest.Wait()
		feed(a, 7)
		feed(b, 5)
		b.Cancel()
		c.End()
		a.End()
		time.Sleep(1100 * time.Millisecond)
		if first.String() != "7 frames!" || second.String() != "" || third.String() != "3 frames!" || most.Load() < 2 {
			t.Errorf("understood %v, %v, %v, %d at once", &first, &second, &third, most.Load())
		}
	})
}

// TestDeathsAtOnce: however often and whenever a helper that hears several people dies, each of them is
// understood whole and once. What kills helpers is given up, and nothing else with it.
func TestDeathsAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 8).Draw(rt, "lengths")
		killer := rapid.IntRange(-1, len(lengths)-1).Draw(rt, "killer")
		var deaths []int // at which message of a life
		if killer < 0 {
			deaths = rapid.SliceOfN(rapid.IntRange(1, 40), 0, 2).Draw(rt, "deaths")
		}
		synctest.Test(t, func(t *testing.T) {
			var most atomic.Int32
			messages := 0
			r := stt.New(stt.Config{Log: quiet, Dial: atOnce(func(m helper.Sound) error {
				if messages++; len(deaths) > 0 && messages == deaths[0] {
					deaths, messages = deaths[1:], 0
					return io.ErrUnexpectedEOF
				}
				if len(m.Data) > 0 && m.Data[0] == 13 {
					return io.ErrUnexpectedEOF
				}
				return nil
			}, &most)})
			defer live(t, r)()
			tapes := make([]tape, len(lengths))
			for i, n := range lengths {
				s := r.Begin(tapes[i].on)
				if i == killer {
					var f audio.Frame
					f.PCM[0] = 13
					s.Feed(&f)
				}
				feed(s, n)
				s.End()
			}
			time.Sleep(time.Minute)
			for i, n := range lengths {
				want := fmt.Sprintf("%d frames!", n)
				if i == killer {
					want = stt.ErrKill.Error() + "!"
				}
				if got := tapes[i].String(); got != want {
					rt.Errorf("of %v, of which %d kills, %d was %s", lengths, killer, i, got)
				}
			}
		})
	})
}

// TestPoolOfOne: a pool with a helper that hears everybody at once has no other.
func TestPoolOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, dialled atomic.Int32
		dial := atOnce(lives, &most)
		p := stt.NewPool(stt.PoolConfig{Most: 4, Each: stt.Config{Log: quiet, Dial: func() (helper.Link, error) {
			dialled.Add(1)
			return dial()
		}}})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		synctest.Wait()
		var tapes [8]tape
		for i := range tapes {
			s := p.Listener().Begin(tapes[i].on)
			feed(s, i)
			s.End()
		}
		time.Sleep(2 * time.Second)
		for i := range tapes {
			if got := tapes[i].String(); got != fmt.Sprintf("%d frames!", i) {
				t.Errorf("%d was %s", i, got)
			}
		}
		if dialled.Load() != 1 || most.Load() != 8 {
			t.Errorf("there were %d helpers, and %d people at once", dialled.Load(), most.Load())
		}
		stop()
		running.Wait()
	})
}
