package delivery_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/delivery"
	"earshot/internal/testkit"
)

// TestRelay: a speech that moves between two voices, while it is made, lowered, paused and perhaps cut at
// any moment, is heard in order and whole up to where it ends, of which no more than a clause is repeated
// at each move; never do both sound at once, the position never goes back, and it ends once.
func TestRelay(t *testing.T) {
	clauses := []string{"Once upon a time, ", "there was a miller, ", "who had three sons ", "and a cat."}
	text := strings.Join(clauses, "")
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var set delivery.Set
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			voice := func(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
				return o.Open(ctx, opening, heard)
			}
			voices := []*testkit.Voice{{Called: "desk", Every: 10 * time.Millisecond, Aloud: true}, {Called: "kitchen", Every: 10 * time.Millisecond, Aloud: true}}
			for _, v := range voices {
				set.Add(v, earshot.Audience{Unknown: true}, voice)
			}
			places := set.WithOneVoice(set.All(), "", "")
			turn := set.BeginTurn(places, earshot.Visibility{Scope: earshot.Public}, nil, func() {})

			var mu sync.Mutex
			at, ends := 0, 0
			position := func() (int, int) {
				mu.Lock()
				defer mu.Unlock()
				return at, ends
			}
			speech, err := turn[0].Open(ctx, earshot.Opening{}, func(h earshot.Heard) {
				mu.Lock()
				defer mu.Unlock()
				bytes := h.Byte
				for _, c := range clauses[:h.Clause] {
					bytes += len(c)
				}
				if h.End {
					ends++
				}
				at = max(at, bytes)
			})
			if err != nil {
				t.Fatal(err)
			}
			var doing sync.WaitGroup
			doing.Go(func() {
				for _, c := range clauses {
					time.Sleep(time.Duration(r.Uint64N(300)) * time.Millisecond)
					_ = speech.Say(earshot.Clause{Text: earshot.Text(c)})
				}
				speech.Finish()
			})
			acts := rand.New(rand.NewPCG(seed, 2))
			moves, cut, paused := 0, false, false
			when := time.Duration(acts.IntN(400)) * time.Millisecond
			heard := [2]int{}
			for now := time.Duration(0); now < 5*time.Second; now += time.Millisecond {
				time.Sleep(time.Millisecond)
				synctest.Wait()
				d, k := len(voices[0].Played()), len(voices[1].Played())
				if d > heard[0] && k > heard[1] {
					t.Fatalf("seed %d: both sound", seed)
				}
				heard = [2]int{d, k}
				if now < when {
					continue
				}
				when = now + time.Duration(acts.IntN(400))*time.Millisecond
				switch n := acts.IntN(20); {
				case n == 0:
					speech.Do(earshot.Cut)
					cut = true
				case n < 4:
					speech.Do(earshot.Pause)
					paused = true
				case n < 8:
					speech.Do(earshot.Resume)
					paused = false
				case n < 14:
					if set.Follow([]string{"desk", "kitchen"}[acts.IntN(2)]) {
						moves++
						doing.Go(set.Move())
					}
				}
			}
			if paused {
				speech.Do(earshot.Resume)
			}
			time.Sleep(5 * time.Second)
			doing.Wait()
			got, n := position()
			played := len(voices[0].Played()) + len(voices[1].Played())
			if n != 1 || !cut && got != len(text) || played < got || played > got+moves*20 {
				t.Errorf("seed %d: %d ends at %d of %d, %d runes came out, %d moves, cut %v", seed, n, got, len(text), played, moves, cut)
			}
			speech.Do(earshot.Cut)
		})
	}
}

// TestOwned: nothing is said any more in a room that another daemon has, whatever is still under way.
func TestOwned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owned := true
		set := delivery.Set{Owned: func() bool { return owned }}
		v := &testkit.Voice{Called: "console", Every: time.Millisecond}
		set.Add(v, earshot.Audience{Unknown: true}, nil)
		turn := set.BeginTurn(set.All(), earshot.Visibility{Scope: earshot.Public}, nil, func() {})
		speech, err := turn[0].Open(t.Context(), earshot.Opening{}, func(earshot.Heard) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := speech.Say(earshot.Clause{Text: "All "}); err != nil {
			t.Error(err)
		}
		owned = false
		if err := speech.Say(earshot.Clause{N: 1, Text: "is well."}); err == nil {
			t.Error("it is said all the same")
		}
		time.Sleep(time.Second)
		speech.Do(earshot.Cut)
		synctest.Wait()
		if got := v.Played(); got != "All " {
			t.Errorf("%q was heard", got)
		}
	})
}
