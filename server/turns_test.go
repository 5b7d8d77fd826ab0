package server

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A calendar is a count that grows.
type calendar struct {
	mu    sync.Mutex
	n     int
	grown chan struct{}
}

func newCalendar() *calendar { return &calendar{grown: make(chan struct{})} }

// now returns the count, and a channel that is closed when it grows.
func (c *calendar) now() (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.grown
}

func (c *calendar) grow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	close(c.grown)
	c.grown = make(chan struct{})
}

// TestTurns: when something happens, a few clients are told at once, and the others soon after, a
// few at a time.
func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		waiting int
		takes   time.Duration // to tell one client
		told    [3]int        // how many are told after 0, 50 and 130 ms
	}{
		{"one", 1, 0, [3]int{1, 1, 1}},
		{"a few", ahead, 0, [3]int{ahead, ahead, ahead}},
		{"a thousand", 1000, 0, [3]int{ahead, ahead + 400, 1000}},
		{"a thousand, each of whom takes a while", 1000, time.Millisecond, [3]int{0, 100, 260}},
		{"a thousand who do not read", 1000, time.Minute, [3]int{0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all turns
				var began, told atomic.Int64
				c := newCalendar()
				_, grown := c.now()
				for range tt.waiting {
					go func() {
						is, ok := all.wait(t.Context(), grown, nil, nil)
						if !ok {
							return
						}
						began.Add(1)
						if time.Sleep(tt.takes); t.Context().Err() == nil {
							told.Add(1)
						}
						is.end()
					}()
				}
				synctest.Wait()
				if n := began.Load(); n != 0 {
					t.Errorf("%d are told of nothing", n)
				}
				c.grow()
				at := time.Now()
				for i, after := range []time.Duration{0, 50 * time.Millisecond, 130 * time.Millisecond} {
					time.Sleep(time.Until(at.Add(after)))
					synctest.Wait()
					if n := int(told.Load()); n > tt.told[i] || n < tt.told[i]*9/10 {
						t.Errorf("%d are told after %v, want %d", n, after, tt.told[i])
					}
				}
				time.Sleep(time.Until(at.Add(time.Second)))
				synctest.Wait()
				if n := int(began.Load()); n != tt.waiting {
					t.Errorf("of %d it was not the turn of %d", tt.waiting, tt.waiting-n)
				}
				time.Sleep(2 * tt.takes)
			})
		})
	}
}

// TestTurnsKeepUp: however much happens, everybody is told of all of it soon.
func TestTurnsKeepUp(t *testing.T) {
	const n, events, every, most = 1000, 500, 2 * time.Millisecond, 150 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var followers sync.WaitGroup
		var all turns
		c, began := newCalendar(), time.Now()
		for i := range n {
			followers.Go(func() {
				known, grown := c.now()
				for {
					is, ok := all.wait(ctx, grown, nil, nil)
					if !ok {
						break
					}
					if at := time.Since(began) - every*time.Duration(known+1); at > most {
						t.Errorf("event %d is told after %v", known+1, at)
					}
					known, grown = c.now()
					if i%10 == 0 {
						time.Sleep(every / 2) // something happens while this client is being told
					}
					is.end()
				}
				if known != events {
					t.Errorf("told of %d events", known)
				}
			})
		}
		for range events {
			time.Sleep(every)
			c.grow()
		}
		time.Sleep(most)
		cancel()
		followers.Wait()
	})
}

// TestTurnsOfWhoIsLate: a client for which something has already happened is told at once, before
// others who wait for the next thing.
func TestTurnsOfWhoIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		c := newCalendar()
		_, before := c.now()
		c.grow()
		_, grown := c.now()
		for range 2 * few {
			go all.wait(t.Context(), grown, nil, nil)
		}
		synctest.Wait()
		began := time.Now()
		if _, ok := all.wait(t.Context(), before, nil, nil); !ok || time.Since(began) > 0 {
			t.Errorf("told after %v", time.Since(began))
		}
	})
}

// TestTurnsOfWhoGoes: a client that leaves, or stops waiting, leaves its place in the line.
func TestTurnsOfWhoGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		_, grown := newCalendar().now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		var gone sync.WaitGroup
		for i := range 4 * few {
			gone.Go(func() {
				var until <-chan time.Time
				if i%2 == 0 {
					until = time.After(time.Second)
				}
				if _, ok := all.wait(ctx, grown, nil, until); ok {
					t.Error("told of nothing")
				}
			})
		}
		gone.Wait()
		if n := all.next.front + all.next.behind.Len(); n != 0 {
			t.Errorf("%d are in line who are gone", n)
		}
	})
}
