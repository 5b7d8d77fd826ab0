package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/store"
)

// TestExpire: expired events are erased, with everything made from them, and nothing else is.
func TestExpire(t *testing.T) {
	s := open(t, store.Config{})
	days := func(n int, e earshot.Event) earshot.Event {
		e.At = began.AddDate(0, 0, -n)
		return e
	}
	add(t, s,
		days(9, by("old", "ann", earshot.Message{Text: "old"})),
		days(9, by("its answer", "agent", earshot.Reply{About: "old", Offered: "yes"}, "old")),
		days(9, by("note", "ann", earshot.Memo{Text: "a note"})),
		days(9, by("mode", "ann", earshot.ModeChange{Mode: earshot.Muted})),
		days(3, by("seen", "", earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 1})),
		days(1, by("new", "ann", earshot.Message{Text: "new"})),
	)
	for _, tt := range []struct {
		keep store.Retention
		want int
		left string
	}{
		{store.Retention{}, 0, "old|reply |memo|mode|sight|new"},
		{store.Retention{Message: 30, Sight: 7}, 0, "old|reply |memo|mode|sight|new"},
		{store.Retention{Message: 5, Sight: 7}, 2, "erased|erased|memo|mode|sight|new"},
		{store.Retention{Message: 5, Sight: 2}, 1, "erased|erased|memo|mode|erased|new"},
	} {
		var told int
		n, err := s.Expire(t.Context(), tt.keep, began.Add(time.Hour), func(some []store.SelectedEvent) { told += len(some) })
		if err != nil || n != tt.want || told != n {
			t.Errorf("%v: %d went, %v, and %d were told; want %d", tt.keep, n, err, told, tt.want)
		}
		if got := texts(everything(t, s)); got != tt.left {
			t.Errorf("%v leaves %s, want %s", tt.keep, got, tt.left)
		}
	}
}

// TestExpireInAnyOrder: old events are erased wherever they are in the journal, since they may have
// been imported later, or the clock may have been ahead for a while.
func TestExpireInAnyOrder(t *testing.T) {
	s := open(t, store.Config{})
	var all []earshot.Event
	for n := range 300 {
		e := by(earshot.EventID(fmt.Sprint("ahead ", n)), "ann", earshot.Message{Text: "ahead"})
		e.At = began.AddDate(4, 0, 0)
		all = append(all, e)
	}
	for n := range 300 {
		e := by(earshot.EventID(fmt.Sprint("old ", n)), "ann", earshot.Message{Text: "old"})
		e.At = began.AddDate(0, 0, -9)
		all = append(all, e)
	}
	add(t, s, all...)
	if n, err := s.Expire(t.Context(), store.Retention{Message: 5}, began, nil); n != 300 || err != nil {
		t.Errorf("%d of 300 went, %v", n, err)
	}
}

// TestRetention: a retention describes itself in words, and invalid values are refused.
func TestRetention(t *testing.T) {
	if got := (store.Retention{Message: 1, Sight: 7}).String(); got != "keeps message for 1 day, sight for 7 days, and everything else until it is deleted" {
		t.Errorf("it says %q", got)
	}
	c := store.DefaultConfig()
	c.Retention.Message, c.Retention.Use = -1, 1_000_000
	err := c.Validate()
	if err == nil || !strings.Contains(err.Error(), "retention.message: is -1") || !strings.Contains(err.Error(), "retention.use: is 1000000") {
		t.Errorf("it is %v", err)
	}
}
