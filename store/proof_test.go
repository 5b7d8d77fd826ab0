package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/store"
)

// TestCleanAGigabyte measures how long writers wait while the traces of one message are removed
// from a journal of a gigabyte, a tenth of it sentences and the rest results of tools, and how long
// the removal takes. It asserts no time, since the machine may have other work.
func TestCleanAGigabyte(t *testing.T) {
	if os.Getenv("EARSHOT_PROOF") == "" {
		t.Skip("it takes many minutes; EARSHOT_PROOF=1 runs it")
	}
	s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "state")})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	r := rand.New(rand.NewPCG(1, 1))
	megabytes := func() int64 { return stat(t, s.Path()).Size() >> 20 }
	for n := 0; megabytes() < 1024; n++ {
		var some []earshot.Event
		for range 200 {
			words := make([]string, 8+r.IntN(24))
			for i := range words {
				words[i] = fmt.Sprintf("w%x", r.IntN(20_000))
			}
			some = append(some, said(earshot.Text(strings.Join(words, " "))))
		}
		for range 20 * (n % 4) {
			e := said("")
			e.Body = earshot.Use{Tool: "read_file", Result: earshot.Text(strings.Repeat(fmt.Sprintf("%x ", r.Uint64()), 3000))}
			some = append(some, e)
		}
		add(t, s, some...)
	}
	gone := add(t, s, said("xylophone"))[0].ID
	t.Logf("a journal of %d MB with %d events", megabytes(), count(t, s))
	write := func(what string, until func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan []time.Duration, 1)
		go func() {
			var all []time.Duration
			each := time.NewTicker(20 * time.Millisecond)
			defer each.Stop()
			for ctx.Err() == nil {
				<-each.C
				began := time.Now()
				if _, err := s.Append(detached(t), said("a few words that somebody says")); err != nil {
					t.Error(err)
				}
				all = append(all, time.Since(began))
			}
			done <- all
		}()
		began := time.Now()
		until()
		took := time.Since(began)
		cancel()
		all := <-done
		slices.Sort(all)
		t.Logf("%s took %v; of %d writers half waited %v, 95 of 100 %v, 99 of 100 %v, and one %v", what, took.Round(time.Millisecond),
			len(all), all[len(all)/2], all[len(all)*95/100], all[len(all)*99/100], all[len(all)-1])
	}
	write("doing nothing", func() { <-time.After(10 * time.Second) })
	write("forgetting a message", func() {
		_, err := s.Delete(t.Context(), gone)
		must(t, err)
	})
	write("doing nothing", func() { <-time.After(10 * time.Second) })
	if found := traces(t, filepath.Dir(s.Path()), []string{"xylophone"}); len(found) > 0 {
		t.Errorf("there are traces: %s", found)
	}
}

// count returns the number of events.
func count(t *testing.T, s *store.Store) int {
	t.Helper()
	n, err := s.Totals(t.Context())
	must(t, err)
	return n.Events
}
