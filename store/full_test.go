package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// big returns a message that takes several pages.
func big() earshot.Event { return said(earshot.Text(strings.Repeat("filler ", 5000))) }

// TestNoRoom: if the file may not grow, nothing is acknowledged, and one notice says so. Once the
// file may grow again, the next call succeeds, and another notice says that.
func TestNoRoom(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Report: heard.report})
	add(t, s, numbered(10)...)
	must(t, s.Run(t.Context(), "PRAGMA max_page_count = 60"))
	fill(t, s)
	kept := len(everything(t, s))
	for range 5 {
		if _, err := s.Append(t.Context(), big()); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), s.Path()) {
			t.Fatalf("append = %v", err)
		}
	}
	if got := len(everything(t, s)); got != kept {
		t.Errorf("%d events are kept, %d were acknowledged", got, kept)
	}
	awaitNotices(t, heard, "store.full") // a fault that ends before its notice gets none
	must(t, s.Run(t.Context(), "PRAGMA max_page_count = 100000"))
	add(t, s, big())
	add(t, s, big())
	awaitNotices(t, heard, "store.full, store.full over")
}

// fill appends until there is no more room.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	for range 10_000 {
		if _, err := s.Append(t.Context(), big()); err != nil {
			if !errors.Is(err, store.ErrFull) {
				t.Fatalf("append = %v", err)
			}
			return
		}
	}
	t.Fatal("there is no end of room")
}

// awaitNotices waits until the listener has got exactly the wanted notices.
func awaitNotices(t *testing.T, l *listener, want string) {
	t.Helper()
	testkit.Await(t, 10*time.Second, "the notices "+want, func() bool { return l.heard() == want })
}
